// Switches at the edge of a fabric: what lies behind them is found once for all of them.
#include "topologies/route_costs.h"
#include "topologies/route_search.h"

namespace busbar {

// All of its links must be cables of two directions, numbered next to each other: then nothing else leads in.
std::optional<RouteSearch::OnlyWay> RouteSearch::only_way(DeviceId device, std::uint32_t links_in) const {
  const Topology& t = *topology_;
  if (t.kind(device) != DeviceKind::kSwitch) return std::nullopt;
  std::optional<OnlyWay> way;
  std::uint32_t cables = 0;
  for (const LinkId out : t.out_links(device)) {
    if (!is_network(t.spec(out).type)) continue;
    const std::optional<LinkId> in = t.way_back(out);
    if (!in || t.spec(*in).type != t.spec(out).type || t.spec(*in).weight != t.spec(out).weight)
      return std::nullopt;
    ++cables;
    if (t.kind(t.to(out)) != DeviceKind::kSwitch) continue;
    if (way) return std::nullopt;
    way = {t.to(out), out, *in, cost_of(t.spec(out).type) * t.spec(out).weight};
  }
  return cables == links_in ? way : std::nullopt;
}

}  // namespace busbar
