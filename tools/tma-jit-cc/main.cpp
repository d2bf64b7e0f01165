// tma-jit-cc: the compile worker as a separate program. The library starts it; people start it only to reproduce a
// crash.
#include <cstdio>

#include <tma_jit/compile_worker.h>

int main(int argc, char** argv) {
  if (const auto status = tma_jit::run_compile_worker(argc, argv)) return *status;
  std::fputs(
      "tma-jit-cc: the compile worker of tma-jit. The library starts it; there is nothing to run by hand, except that\n"
      "\n"
      "  tma-jit-cc --tma-jit-compile-worker --nvrtc LIBNVRTC --file FILE.cu [-o CUBIN] NVRTC-OPTION...\n"
      "\n"
      "compiles one file as a worker would, to reproduce what the compiler did.\n",
      stdout);
  return argc == 2 && (argv[1][0] == '-' && argv[1][1] == '-' && argv[1][2] == 'h') ? 0 : 2;
}
