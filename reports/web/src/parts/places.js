// Where the devices of a drawing stand: the network's switches in tiers above, hosts side by side below.

const kTiers = ["core", "spine", "leaf", "switch"];
const kHostRows = ["nic", "pcie-switch", "cpu", "gpu", "nvswitch"];
const kSide = 18;

/** Hosts that are drawn: all that fit beside each other, at least one. */
export function hostsShown(nodes, width) {
  const hosts = [...new Set(nodes.map((n) => n.host).filter(Boolean))];
  return hosts.slice(0, Math.max(1, Math.floor(width / 420)));
}

/** { places: [x, y] by node or null, room: pixels by node, height, boxes: [{ name, x, y, width, height }] }. */
export function placesOf(nodes, width) {
  const shown = hostsShown(nodes, width);
  const tiers = kTiers.filter((kind) => nodes.some((n) => !n.host && n.kind === kind));
  const rows = kHostRows.filter((kind) => nodes.some((n) => n.host && n.kind === kind));
  const places = new Array(nodes.length).fill(null);
  const rooms = new Array(nodes.length).fill(0);
  const spread = (list, left, room, y) => list.forEach((i, k) => {
    places[i] = [left + ((k + 0.5) * room) / list.length, y];
    rooms[i] = room / list.length - 6;
  });
  const step = 74;
  tiers.forEach((kind, t) => spread(indices(nodes, (n) => !n.host && n.kind === kind), kSide, width - 2 * kSide, 34 + t * step));
  const top = tiers.length > 0 ? 34 + tiers.length * step : 34;
  const room = (width - 2 * kSide) / shown.length;
  const boxes = shown.map((host, h) => {
    rows.forEach((kind, r) => spread(indices(nodes, (n) => n.host === host && n.kind === kind), kSide + h * room + 8, room - 16, top + 26 + r * step));
    return { name: host, x: kSide + h * room + 2, y: top - 10, width: room - 4, height: (rows.length - 1) * step + 72 };
  });
  // A switch that joins the GPUs of several hosts stands below them.
  const below = indices(nodes, (n) => !n.host && n.kind === "nvswitch");
  const bottom = top + (rows.length - 1) * step + 72;
  spread(below, kSide, width - 2 * kSide, bottom + 40);
  return { places, rooms, boxes, height: bottom + (below.length > 0 ? 66 : 0) };
}

function indices(nodes, wanted) {
  return nodes.flatMap((n, i) => (wanted(n) ? [i] : []));
}

/** Both directions of a connection as one, told by the fuller. */
export function connections(links) {
  const known = new Map();
  links.forEach((link, i) => {
    const key = `${Math.min(link.from, link.to)} ${Math.max(link.from, link.to)} ${link.class.split("->").sort().join()}`;
    const entry = known.get(key) ?? { ...link, at: i, busy_fraction: -1 };
    if (link.busy_fraction > entry.busy_fraction) known.set(key, { ...link, at: i, peak_fraction: Math.max(link.peak_fraction, entry.peak_fraction) });
    else entry.peak_fraction = Math.max(entry.peak_fraction, link.peak_fraction);
    if (!known.has(key)) known.set(key, entry);
  });
  return [...known.values()];
}
