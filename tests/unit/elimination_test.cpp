// Eliminations on a simulated device, whose clock falls while it works, whose times depend on where tensors lie, and
// which other work disturbs. Each case is repeated with many seeds.
#include "tuning/elimination.h"

#include <cmath>
#include <map>
#include <random>

#include <doctest/doctest.h>

#include "support/combinations.h"

namespace tma_jit::tuning {
namespace {

// A configuration's time over that of the planned one.
struct Kind {
  double cool = 1, hot = 1;  // with the clock as it is after a pause, and after long work
};

class Device {
 public:
  Device(std::vector<Kind> kinds, unsigned seed) : kinds_(std::move(kinds)), noise_(seed) {}

  Track track() {
    return {.race = [this](std::span<const std::size_t> entrants, const Moment& moment) -> Result<std::vector<double>> {
              return race(entrants, moment);
            },
            .over = [this] { return over; },
            .rests = rests};
  }

  double place_noise = 0.015, round_noise = 0.004, burst = 0.05;  // burst: the chance that other work meets a round
  std::size_t races = 0;
  bool rests = true, over = false;

 private:
  double normal(double deviation) { return std::normal_distribution<double>(0, deviation)(noise_); }
  double uniform() { return std::uniform_real_distribution<double>()(noise_); }

  // The same again for the same entrant and place.
  double of_place(std::size_t entrant, const Moment& moment) {
    const auto key = std::pair(entrant, moment.place);
    if (!places_.contains(key)) places_[key] = std::exp(normal(place_noise));
    return places_[key];
  }

  double time_of(std::size_t entrant, const Moment& moment) {
    const Kind& kind = kinds_[entrant];
    const double ramp = 1 + 0.2 * heat_;  // the clock falls by a fifth
    const double other = uniform() < burst ? 1 + 2 * uniform() : 1;
    return (kind.cool + (kind.hot - kind.cool) * heat_) * ramp * of_place(entrant, moment) * other *
           std::exp(normal(round_noise));
  }

  std::vector<double> race(std::span<const std::size_t> entrants, const Moment& moment) {
    ++races;
    heat_ = moment.rested ? 0 : std::min(1.0, heat_ + 0.25);
    std::vector<double> ratios;
    for (const std::size_t entrant : entrants) {
      std::vector<double> rounds;
      for (int round = 0; round < 3; ++round) rounds.push_back(time_of(entrant, moment) / time_of(0, moment));
      ratios.push_back(median_of(rounds));
    }
    return ratios;
  }

  std::vector<Kind> kinds_;
  std::mt19937 noise_;
  double heat_ = 0;
  std::map<std::pair<std::size_t, std::size_t>, double> places_;
};

constexpr unsigned kSeeds = 200;

// Returns how often each was chosen; 0 is the planned configuration.
std::map<std::size_t, unsigned> choices(const std::vector<Kind>& kinds,
                                        const std::function<void(Device&)>& change = {}) {
  std::map<std::size_t, unsigned> counts;
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    Device device(kinds, seed);
    if (change) change(device);
    const Track track = device.track();
    std::vector<Standing> entrants;
    for (std::size_t i = 1; i < kinds.size(); ++i) entrants.push_back({i, 1});
    const auto decision = Elimination(track, {}).run(entrants);
    REQUIRE(decision);
    ++counts[decision->changed ? decision->finalists.front().entrant : 0];
  }
  return counts;
}

}  // namespace

TEST_CASE("what is faster only while the clock is low is not chosen") {
  CHECK(choices({{}, {.cool = 1.15, .hot = 0.95}, {.cool = 1.02, .hot = 1.02}})[0] == kSeeds);
  CHECK(choices({{}, {.cool = 0.95, .hot = 1.15}})[0] == kSeeds);
}

TEST_CASE("of configurations that are as fast as the planned one, or a little slower, none is chosen") {
  std::vector<Kind> kinds(12);
  for (std::size_t i = 1; i < kinds.size(); ++i) kinds[i].cool = kinds[i].hot = 1 + 0.002 * static_cast<double>(i);
  CHECK(choices(kinds)[0] >= kSeeds * 99 / 100);
}

TEST_CASE("what is clearly faster is chosen, through bursts of other work, and two searches agree") {
  std::vector<Kind> kinds(16, {.cool = 1.06, .hot = 1.04});
  kinds[7] = {.cool = 0.97, .hot = 0.95};
  const auto often = [](Device& device) { device.burst = 0.1; };
  CHECK(choices(kinds, often)[7] >= kSeeds * 99 / 100);
}

TEST_CASE("two searches agree where several configurations are as fast as each other") {
  std::vector<Kind> kinds(16, {.cool = 1.06, .hot = 1.06});
  kinds[5] = {.cool = 0.951, .hot = 0.951};
  kinds[9] = kinds[12] = {.cool = 0.95, .hot = 0.95};
  CHECK(choices(kinds)[5] >= kSeeds * 9 / 10);
}

TEST_CASE("a gain that is not one percent beyond the noise changes nothing") {
  const std::vector<Kind> kinds = {{}, {.cool = 0.988, .hot = 0.988}, {.cool = 0.987, .hot = 0.987}};
  CHECK(choices(kinds)[0] >= kSeeds * 9 / 10);
}

TEST_CASE("a final without pauses whose time is over still decides") {
  const std::vector<Kind> kinds = {{}, {.cool = 0.9, .hot = 0.9}};
  CHECK(choices(kinds, [](Device& device) {
          device.rests = false;
          device.over = true;
        })[1] >= kSeeds * 95 / 100);
}

TEST_CASE("an elimination races no more than it says at least once the time is over") {
  Device device(std::vector<Kind>(16), 1);
  device.over = true;
  const Track track = device.track();
  std::vector<Standing> entrants;
  for (std::size_t i = 1; i < 16; ++i) entrants.push_back({i, 1});
  const auto decision = Elimination(track, {}).run(entrants);
  REQUIRE(decision);
  CHECK(decision->places == 2 * Elimination::kFinalPlaces);
  CHECK(device.races == decision->places);
  CHECK(Elimination::least_launches(Elimination::kFinalists, true, 1) ==
        (1 + Elimination::kFinalists) * decision->places);
  CHECK_FALSE(Elimination(track, {}).run({})->changed);
}

TEST_CASE(
    "a final ends as soon as nothing may be a gain, and after the most places where times vary too much to tell") {
  const auto decided = [](double other, double noise) {
    Device device({{}, {.cool = other, .hot = other}}, 5);
    device.round_noise = noise;
    device.rests = false;
    const Track track = device.track();
    const auto decision = Elimination(track, {.most_places = 192}).run({{1, 1}});
    REQUIRE(decision);
    return *decision;
  };
  const Decision slower = decided(1.2, 0.05);
  CHECK_FALSE(slower.changed);
  CHECK(slower.settled);
  CHECK(slower.places <= 2 * Elimination::kFinalPlaces);
  const Decision faster = decided(0.9, 0.1);
  CHECK(faster.changed);
  const Decision unknown = decided(0.97, 0.4);
  CHECK_FALSE(unknown.changed);
  CHECK_FALSE(unknown.settled);
  CHECK(unknown.places == 192);
}

// The device is as an H200 on which an application works: two configurations are 3 % faster, others 1 %.
TEST_CASE("a final goes on where a precise ratio does not tell whether it is a gain of one percent beyond the noise") {
  const unsigned seeds = testing::combinations() == testing::Combinations::few ? kSeeds / 10 : kSeeds;
  unsigned right = 0;
  std::size_t fewest = 1200;
  for (unsigned seed = 0; seed < seeds; ++seed) {
    Device device({{}, {.hot = 0.972}, {.hot = 0.985}, {.hot = 0.99}, {.hot = 1.005}}, seed);
    device.rests = false;
    device.place_noise = 0.04;
    const Track track = device.track();
    const auto decision = Elimination(track, {.most_places = 1200}).run({{1, 1}, {2, 1}, {3, 1}, {4, 1}});
    REQUIRE(decision);
    CHECK(decision->settled);
    right += decision->changed && decision->finalists.front().entrant == 1 ? 1 : 0;
    fewest = std::min(fewest, decision->places);
  }
  CHECK(right >= seeds * 95 / 100);
  CHECK(fewest > 300);
}

TEST_CASE("a final ends before the most places where one is clearly faster and the others are slower than it") {
  Device device({{}, {.hot = 0.9}, {.hot = 0.985}, {.hot = 0.99}}, 3);
  device.rests = false;
  const Track track = device.track();
  const auto decision = Elimination(track, {.most_places = 1200}).run({{1, 1}, {2, 1}, {3, 1}});
  REQUIRE(decision);
  CHECK(decision->changed);
  CHECK(decision->places < 300);
}

}  // namespace tma_jit::tuning
