// The functions of the table's rows, one file each, and the blocks that they share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/collectives/plan.h"
#include "sim/collectives/schedule.h"

namespace busbar {

[[nodiscard]] Schedule all_reduce_ring_schedule(const GroupShape& shape);
[[nodiscard]] Plan all_reduce_ring_plan(const PlanRequest& request);
[[nodiscard]] Schedule all_reduce_halving_doubling_schedule(const GroupShape& shape);
[[nodiscard]] std::vector<Round> all_reduce_halving_doubling_rounds(const GroupShape& shape);
[[nodiscard]] std::string needs_power_of_two(const GroupShape& shape);
[[nodiscard]] Schedule all_reduce_hierarchical_schedule(const GroupShape& shape);
[[nodiscard]] std::vector<Round> all_reduce_hierarchical_rounds(const GroupShape& shape);
[[nodiscard]] std::string needs_equal_hosts(const GroupShape& shape);
[[nodiscard]] Schedule all_reduce_tree_schedule(const GroupShape& shape);
[[nodiscard]] std::vector<Round> all_reduce_tree_rounds(const GroupShape& shape);
[[nodiscard]] Schedule all_reduce_nvls_schedule(const GroupShape& shape);
[[nodiscard]] std::vector<Round> all_reduce_nvls_rounds(const GroupShape& shape);
[[nodiscard]] std::string needs_one_host(const GroupShape& shape);
[[nodiscard]] Schedule all_reduce_nvls_tree_schedule(const GroupShape& shape);
[[nodiscard]] std::vector<Round> all_reduce_nvls_tree_rounds(const GroupShape& shape);
[[nodiscard]] Schedule all_reduce_collnet_direct_schedule(const GroupShape& shape);
[[nodiscard]] std::vector<Round> all_reduce_collnet_direct_rounds(const GroupShape& shape);
[[nodiscard]] std::string needs_several_equal_hosts(const GroupShape& shape);
[[nodiscard]] Schedule all_reduce_collnet_chain_schedule(const GroupShape& shape);
[[nodiscard]] std::vector<Round> all_reduce_collnet_chain_rounds(const GroupShape& shape);
[[nodiscard]] std::string needs_several_hosts(const GroupShape& shape);
[[nodiscard]] Schedule all_gather_ring_schedule(const GroupShape& shape);
[[nodiscard]] Plan all_gather_ring_plan(const PlanRequest& request);
[[nodiscard]] Schedule all_gather_nvls_schedule(const GroupShape& shape);
[[nodiscard]] std::vector<Round> all_gather_nvls_rounds(const GroupShape& shape);
[[nodiscard]] Schedule all_gather_pat_schedule(const GroupShape& shape);
[[nodiscard]] std::vector<Round> all_gather_pat_rounds(const GroupShape& shape);
[[nodiscard]] Schedule all_gather_collnet_direct_schedule(const GroupShape& shape);
[[nodiscard]] std::vector<Round> all_gather_collnet_direct_rounds(const GroupShape& shape);
[[nodiscard]] Schedule reduce_scatter_ring_schedule(const GroupShape& shape);
[[nodiscard]] Plan reduce_scatter_ring_plan(const PlanRequest& request);
[[nodiscard]] Schedule reduce_scatter_nvls_schedule(const GroupShape& shape);
[[nodiscard]] std::vector<Round> reduce_scatter_nvls_rounds(const GroupShape& shape);
[[nodiscard]] Schedule reduce_scatter_pat_schedule(const GroupShape& shape);
[[nodiscard]] std::vector<Round> reduce_scatter_pat_rounds(const GroupShape& shape);
[[nodiscard]] Schedule reduce_scatter_collnet_direct_schedule(const GroupShape& shape);
[[nodiscard]] std::vector<Round> reduce_scatter_collnet_direct_rounds(const GroupShape& shape);
[[nodiscard]] Schedule broadcast_ring_schedule(const GroupShape& shape);
[[nodiscard]] Schedule broadcast_binomial_schedule(const GroupShape& shape);
[[nodiscard]] std::vector<Round> broadcast_binomial_rounds(const GroupShape& shape);
[[nodiscard]] Schedule reduce_ring_schedule(const GroupShape& shape);
[[nodiscard]] Schedule reduce_binomial_schedule(const GroupShape& shape);
[[nodiscard]] std::vector<Round> reduce_binomial_rounds(const GroupShape& shape);
[[nodiscard]] Schedule gather_direct_schedule(const GroupShape& shape);
[[nodiscard]] std::vector<Round> gather_direct_rounds(const GroupShape& shape);
[[nodiscard]] Schedule scatter_direct_schedule(const GroupShape& shape);
[[nodiscard]] std::vector<Round> scatter_direct_rounds(const GroupShape& shape);
[[nodiscard]] Schedule all_to_all_direct_schedule(const GroupShape& shape);
[[nodiscard]] std::vector<Round> all_to_all_direct_rounds(const GroupShape& shape);
[[nodiscard]] Schedule all_to_all_pairwise_schedule(const GroupShape& shape);
[[nodiscard]] std::vector<Round> all_to_all_pairwise_rounds(const GroupShape& shape);
[[nodiscard]] Schedule send_recv_schedule(const GroupShape& shape);
[[nodiscard]] Plan send_recv_plan(const PlanRequest& request);
[[nodiscard]] Schedule barrier_ring_schedule(const GroupShape& shape);
[[nodiscard]] Plan barrier_ring_plan(const PlanRequest& request);

using Hosts = std::vector<std::vector<std::uint32_t>>;

/// The shape's hosts as given, or all ranks on one.
[[nodiscard]] Hosts hosts_of(const GroupShape& shape);

/// Appends `steps` rounds in which rank i sends chunk (first + i - round) mod n to rank i + 1.
void append_ring_rounds(Schedule& schedule, std::uint32_t first_chunk, std::uint32_t steps, bool reduce);

}  // namespace busbar
