// Rings through GPUs that direct links join, so that together they use as much of the links as they can.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/units.h"

namespace busbar {

/// Direct links among `size` GPUs: Bps[from x size + to], 0 where there is none.
struct DirectLinks {
  std::uint32_t size = 0;
  std::vector<double> Bps;
  [[nodiscard]] double at(std::uint32_t from, std::uint32_t to) const {
    return Bps[std::size_t{from} * size + to];
  }
};

/// Directed rings through all GPUs, each an order of the places 0..size-1 that starts at 0. Every one runs at
/// `speed`; on no link do they exceed what it carries.
struct RingSet {
  std::vector<std::vector<std::uint32_t>> rings;
  Bandwidth speed;
};

/// The set with the largest number of rings x speed that was found; of equal ones the faster rings. Empty if
/// no ring goes through all GPUs over direct links alone, or for more than kMaxRingGpus of them.
/// Speeds tried: each link's rate and half of it, so that two rings may share a link: among 4 or 6 GPUs that
/// are all joined, no n - 1 directed rings are disjoint (Tillson, A Hamiltonian decomposition of K*_2m, J.
/// Comb. Theory B 29, 1980), but 2(n - 1) at half the rate use all links.
/// How: depth first with a bounded number of steps, many times over with ties broken by a fixed sequence of
/// hashes. The result depends on `links` alone. Cost: under 0.1 s.
/// Source of the aim: NVIDIA/nccl src/graph/search.cc v2.28.9 (channels x speed).
[[nodiscard]] RingSet find_rings(const DirectLinks& links);

inline constexpr std::uint32_t kMaxRingGpus = 32;

}  // namespace busbar
