#pragma once
// How the consumers of attention kernels come to know their steps: all steps of a tile in ascending order, or, under a
// mask of the request's, those that the producer publishes.
#include "device/pipeline/pipeline.cuh"
#include "device/pipeline/seen_steps.cuh"

// The SeenStep of each slot of a ring, where there is a mask. Written by the producer before it announces the slot.
template <int Stages, bool Masked> class PublishedSteps {
 public:
  __device__ int operator[](u32 slot) const { return seen_[slot]; }
  __device__ void set(u32 slot, int seen) { seen_[slot] = seen; }

 private:
  int seen_[Stages];
};
template <int Stages> class PublishedSteps<Stages, false> {
 public:
  __device__ int operator[](u32) const { return SeenStep::kEnd; }
  __device__ void set(u32, int) {}
};

// Acquires a slot, publishes its step, and announces `bytes` of copies into it, none after the last step. Returns the
// slot. Called by one thread.
template <int Stages, class Published>
__device__ inline u32 publish(Published& published, Pipeline<Stages>& pipeline, Producer<Stages, 1>& producer, int seen,
                              u32 bytes) {
  const u32 slot = producer.acquire();
  published.set(slot, seen);
  pipeline.full[slot].expect(seen < 0 ? 0 : bytes);
  return slot;
}

// One consumer's steps of the tile of a block that has one.
//   for (TileSteps steps(smem.pipeline, smem.published, work.steps); steps.next();) { ... steps.slot ... }
template <int Stages, bool Masked> class TileSteps {
 public:
  __device__ TileSteps(Pipeline<Stages>& pipeline, const PublishedSteps<Stages, Masked>& published, int steps)
      : consumer_(pipeline), published_(published), steps_(steps) {}

  u32 slot = 0;        // of the step's keys and values
  bool whole = false;  // the mask hides none of the step's keys

  // Waits for the next step; returns whether there is one. Without Waits, for a consumer that learns from others when
  // its scores are made, it only waits where it must in order to know.
  template <bool Waits = true> __device__ bool next() {
    if constexpr (Masked) {
      slot = consumer_.wait();
      const int seen = published_[slot];
      step_ = SeenStep::step(seen), whole = SeenStep::is_whole(seen);
      return seen >= 0;
    } else {
      if (++step_ >= steps_) return false;
      if constexpr (Waits) slot = consumer_.wait();
      return true;
    }
  }
  __device__ int step() const { return step_; }

 private:
  Consumer<Stages, 1> consumer_;
  const PublishedSteps<Stages, Masked>& published_;
  const int steps_;
  int step_ = -1;
};

// The steps of a tile for threads that start the copies of each `Ahead` steps before they use it. Steps is a SeenSteps.
//   for (int i = 0; i < Ahead; ++i) load(steps.fetch());
//   while (steps.more()) { load(steps.fetch()); ... steps.current() ... }
template <int Ahead, bool Masked, class Steps> class AheadSteps {
 public:
  __device__ AheadSteps(int, Steps steps) : steps_(steps) {}

  // Returns the step to load, negative after the last.
  __device__ int fetch() {
#pragma unroll
    for (int i = 0; i < Ahead; ++i) seen_[i] = seen_[i + 1];
    seen_[Ahead] = steps_.next();
    return seen_[Ahead] < 0 ? -1 : SeenStep::step(seen_[Ahead]);
  }
  __device__ bool more() const {
    return seen_[1] >= 0;
  }
  __device__ int current() const {
    return SeenStep::step(seen_[0]);
  }
  // The mask hides none of the current step's keys.
  __device__ bool whole() const {
    return SeenStep::is_whole(seen_[0]);
  }

 private:
  Steps steps_;
  int seen_[Ahead + 1];
};

// All steps in ascending order.
template <int Ahead, class Steps> class AheadSteps<Ahead, false, Steps> {
 public:
  __device__ AheadSteps(int steps, const Steps&) : steps_(steps) {}

  __device__ int fetch() {
    const int step = fetched_++;
    return step < steps_ ? step : -1;
  }
  __device__ bool more() const { return fetched_ - Ahead < steps_; }
  __device__ int current() const { return fetched_ - Ahead - 1; }
  __device__ bool whole() const { return false; }

 private:
  const int steps_;
  int fetched_ = 0;
};
