// Opens an emulated device and prints what it is, or why there is none.
#include <cstdio>

#include <tma_jit/emulator.h>
#include <tma_jit/engine.h>

int main() {
  tma_jit::EmulatorSettings settings;
  settings.arch = "sm_100a";
  settings.processors = 3;
  tma_jit::Options options;
  options.device = tma_jit::Device::emulated(settings);
  options.use_cache = false;
  tma_jit::Engine engine(options);
  const auto device = engine.device();
  if (!device) {
    std::printf("%s\n", device.error().text().c_str());
    return 0;
  }
  std::printf("%s, %d processors\n", device->name.c_str(), device->sm_count);
}
