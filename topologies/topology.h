// The cluster as a graph: devices, directed links with capacity and latency, and the GPUs in rank order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sim/base/collective_kind.h"
#include "sim/base/group_routes.h"
#include "sim/base/ids.h"
#include "sim/base/rows.h"
#include "sim/base/units.h"
#include "topologies/device_index.h"

namespace busbar {

enum class DeviceKind : std::uint8_t { kGpu, kCpu, kNvswitch, kPcieSwitch, kNic, kSwitch };
inline constexpr std::size_t kDeviceKinds = 6;
[[nodiscard]] std::string_view name_of(DeviceKind kind);

/// More devices than this are refused, before any memory is spent on them.
inline constexpr std::int64_t kMaxDevices = std::int64_t{1} << 24;

/// What a GPU computes with. Peaks are dense (no sparsity), from the datasheet named in `source`.
struct GpuModel {
  std::string name;                   // "H100-SXM5-80GB"
  std::map<DataType, FlopRate> peak;  // matmul peak per type
  Bytes memory;
  Bandwidth memory_bandwidth;
  std::int64_t sms = 0;  // streaming multiprocessors (or compute units)
  std::string source;
  int compute_capability = 90;  // x 10, as NCCL sees it: 90 is CUDA's 9.0
  double watts = 0;             // power limit as sold; 0: not known
  bool operator==(const GpuModel&) const = default;
};

inline constexpr std::uint32_t kNoHost = 0xffffffffU;

struct Device {
  DeviceKind kind = DeviceKind::kGpu;
  std::uint32_t host = kNoHost;  // index into Topology::hosts(); kNoHost for fabric devices
  std::int32_t gpu_model = -1;   // index into Topology::gpu_models(); -1: none
  double compute = 1.0;          // share of its speed that is left (faults)
  bool operator==(const Device&) const = default;
};

/// What a link can do, whichever devices it joins.
struct LinkSpec {
  Bandwidth bandwidth;
  Bandwidth nominal;            // without faults: what a library that builds its rings takes it for
  std::optional<Time> latency;  // none: the profile's for this type
  LinkType type = LinkType::kNvlink;
  std::uint16_t weight = 1;  // of a network link in the choice of routes: it counts as that many
  bool operator==(const LinkSpec&) const = default;
};

/// One direction of a link, or of a bundle of equal parallel links.
struct Link : LinkSpec {
  DeviceId from, to;
};

/// Values that their owner puts together when asked for.
template <class Owner, class Value, class IdType>
class ValueRange {
 public:
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Value;
    using difference_type = std::ptrdiff_t;
    using pointer = void;
    using reference = Value;
    Iterator() = default;
    Iterator(const Owner* owner, std::size_t at) : owner_(owner), at_(at) {}
    Value operator*() const { return owner_->at(IdType::from_index(at_)); }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    Iterator operator++(int) {
      Iterator old = *this;
      ++at_;
      return old;
    }
    bool operator==(const Iterator&) const = default;

   private:
    const Owner* owner_ = nullptr;
    std::size_t at_ = 0;
  };
  ValueRange(const Owner* owner, std::size_t size) : owner_(owner), size_(size) {}
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] Iterator begin() const { return {owner_, 0}; }
  [[nodiscard]] Iterator end() const { return {owner_, size_}; }
  Value operator[](std::size_t at) const { return owner_->at(IdType::from_index(at)); }

 private:
  const Owner* owner_;
  std::size_t size_;
};

/// Which of the cheapest network paths a flow takes.
enum class RoutingMode : std::uint8_t {
  kAdaptive,  // all of them, split evenly
  kStatic,    // one, by a hash of (seed, source, destination)
};
struct Routing {
  RoutingMode mode = RoutingMode::kAdaptive;
  std::uint64_t seed = 0;
};

/// One machine: what shares its NVLink and PCIe.
struct Host {
  std::string name;
  std::string type;            // "dgx-h100"; "" in the long form
  std::vector<DeviceId> gpus;  // in file order
  std::vector<DeviceId> nics;  // those that have a network link, in file order
  std::uint32_t domain =
      0;  // hosts whose GPUs one NVLink switch joins share it; by default the host's own index
  CpuVendor cpu = CpuVendor::kIntel;
};

/// Immutable once built (see TopologyBuilder). Links come in file order; a full-duplex link gives two
/// directions, numbered next to each other, forward first.
class Topology {
 public:
  using Devices = ValueRange<Topology, Device, DeviceId>;
  using Links = ValueRange<Topology, Link, LinkId>;
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& source() const { return source_; }
  [[nodiscard]] Devices devices() const { return {this, devices_.size()}; }
  [[nodiscard]] Links links() const { return {this, links_.size()}; }
  [[nodiscard]] std::span<const Host> hosts() const { return hosts_; }
  [[nodiscard]] std::span<const GpuModel> gpu_models() const { return gpu_models_; }
  /// GPUs by rank.
  [[nodiscard]] std::span<const DeviceId> ranks() const { return ranks_; }
  [[nodiscard]] Device at(DeviceId id) const {
    const StoredDevice& d = devices_[id.index()];
    Device device{.kind = d.kind, .host = d.host, .gpu_model = d.gpu_model};
    if (!slowed_.empty())
      if (const auto it = slowed_.find(id.value()); it != slowed_.end()) device.compute = it->second;
    return device;
  }
  [[nodiscard]] Link at(LinkId id) const { return {spec(id), from(id), to(id)}; }
  [[nodiscard]] Device device(DeviceId id) const { return at(id); }
  [[nodiscard]] Link link(LinkId id) const { return at(id); }
  // The parts of these that loops over many of them ask for.
  [[nodiscard]] DeviceKind kind(DeviceId id) const { return devices_[id.index()].kind; }
  [[nodiscard]] std::uint32_t host_of(DeviceId id) const { return devices_[id.index()].host; }
  [[nodiscard]] std::int32_t gpu_model_of(DeviceId id) const { return devices_[id.index()].gpu_model; }
  [[nodiscard]] DeviceId from(LinkId id) const { return DeviceId(links_[id.index()].from); }
  [[nodiscard]] DeviceId to(LinkId id) const { return DeviceId(links_[id.index()].to); }
  /// Links with the same number are alike in all but their ends.
  [[nodiscard]] std::uint32_t spec_number(LinkId id) const { return links_[id.index()].spec; }
  [[nodiscard]] std::span<const LinkSpec> specs() const { return specs_; }
  [[nodiscard]] const LinkSpec& spec(LinkId id) const { return specs_[links_[id.index()].spec]; }
  /// Its id: "h0.gpu4", "leaf3".
  [[nodiscard]] std::string name_of(DeviceId id) const;
  /// What it goes by in the names of classes: its kind, or "leaf", "spine", "core".
  [[nodiscard]] std::string role_of(DeviceId id) const;
  /// "h0.nic3->leaf3": this direction. (Faults call both directions together "h0.nic3--leaf3".)
  [[nodiscard]] std::string link_name(LinkId id) const;
  /// For reports: links of one class behave alike ("nvlink", "pcie", "nic->leaf", ...). In a host the link's
  /// type; in the network the kinds of its ends, where switches called "leaf<n>", "spine<n>" or "core<n>"
  /// go by that name.
  [[nodiscard]] std::string link_class(LinkId id) const;
  /// Outgoing directions of a device, in file order.
  [[nodiscard]] std::span<const LinkId> out_links(DeviceId id) const { return out_[id.index()]; }
  /// The other direction of a link that has two: their numbers are next to each other.
  [[nodiscard]] std::optional<LinkId> way_back(LinkId id) const;
  [[nodiscard]] const Routing& routing() const { return routing_; }
  /// The network's switches can add up what passes (SHARP).
  [[nodiscard]] bool in_network_reduction() const { return in_network_reduction_; }
  [[nodiscard]] std::span<const std::string> notes() const { return notes_; }

 private:
  friend class TopologyBuilder;
  struct StoredDevice {
    std::uint32_t name = 0;  // in parts_ (after the host's name and a dot) or in names_
    std::uint32_t host = kNoHost;
    std::int16_t gpu_model = -1;
    DeviceKind kind = DeviceKind::kGpu;
    bool part_of_host = false;
  };
  struct StoredLink {
    std::uint32_t from = 0, to = 0, spec = 0;
  };
  std::string name_, source_;
  Routing routing_;
  bool in_network_reduction_ = false;
  std::vector<std::string> notes_;
  std::vector<StoredDevice> devices_;
  std::vector<std::string> parts_, names_;
  std::unordered_map<std::uint32_t, double> slowed_;  // devices with a fault: the share of speed left
  std::vector<StoredLink> links_;
  std::vector<LinkSpec> specs_;
  std::vector<Host> hosts_;
  std::vector<GpuModel> gpu_models_;
  std::vector<DeviceId> ranks_;
  Rows<LinkId> out_;  // by device
};

/// Collects devices and links, then checks and freezes them.
/// Errors (Error, kInput, `where` from the caller): duplicate device id, link to an unknown device, a link
/// from a device to itself, bandwidth not above zero, no GPU, over 2^24 devices, GPUs that no path connects.
class TopologyBuilder {
 public:
  TopologyBuilder(std::string name, std::string source);
  /// Room for this many more devices and link directions; saves time only.
  void reserve(std::size_t devices, std::size_t links);
  std::uint32_t add_host(std::string name, std::string type);
  /// Puts a host into the NVLink domain of another (racks whose trays share NVLink switches).
  void set_domain(std::uint32_t host, std::uint32_t domain);
  void set_cpu(std::uint32_t host, CpuVendor vendor) { t_.hosts_[host].cpu = vendor; }
  std::int32_t add_gpu_model(GpuModel model);  // the same name twice gives the same index
  DeviceId add_device(std::string id, DeviceKind kind, std::uint32_t host = kNoHost,
                      std::int32_t gpu_model = -1);
  /// A host of another name with the devices and links that `host` has now: those that it alone owns. Its
  /// devices are numbered from the returned one on. Requires: `host`'s devices were added one after the
  /// other, and `links` is what they are joined by, from the first on. Errors: the limit of devices; the name
  /// is known.
  struct HostParts {
    std::uint32_t host = 0;
    std::size_t first_device = 0, first_link = 0, links = 0;
  };
  void copy_host(const HostParts& parts, std::string name);
  /// Full duplex: both directions. Returns the forward direction; the backward one is the next id.
  LinkId add_link(DeviceId a, DeviceId b, Bandwidth each_way, LinkType type,
                  std::optional<Time> latency = {});
  LinkId add_directed_link(DeviceId from, DeviceId to, Bandwidth bw, LinkType type,
                           std::optional<Time> latency = {});
  /// Of both directions, where there are two. Requires: a link that add_link or add_directed_link returned.
  void set_weight(LinkId link, std::uint16_t weight);
  void set_routing(Routing routing) { t_.routing_ = routing; }
  void set_in_network_reduction(bool has_it) { t_.in_network_reduction_ = has_it; }
  void add_note(std::string note);
  /// What was added so far. Hosts list their GPUs already, their NICs only after build().
  [[nodiscard]] Topology::Devices devices() const { return t_.devices(); }
  [[nodiscard]] Topology::Links links() const { return t_.links(); }
  [[nodiscard]] std::string name_of(DeviceId id) const { return t_.name_of(id); }
  [[nodiscard]] std::span<const Host> hosts() const { return t_.hosts_; }
  [[nodiscard]] std::span<const GpuModel> gpu_models() const { return t_.gpu_models_; }
  [[nodiscard]] std::optional<DeviceId> find_device(std::string_view id) const;
  /// Both directions of the link(s) named "a--b" (in either order), or one direction "a->b"; empty if there
  /// is none.
  [[nodiscard]] std::vector<LinkId> find_links(std::string_view name) const;
  void scale_link(LinkId id, double share);     // faults: share in (0, 1]
  void set_bandwidth(LinkId id, Bandwidth bw);  // faults given as a bandwidth
  void scale_compute(DeviceId id, double share);
  /// Ranks default to the GPUs in the order they were added. Throws Error unless each GPU added so far stands
  /// here once.
  void set_rank_order(std::vector<DeviceId> gpus);
  [[nodiscard]] Topology build() &&;

 private:
  Topology t_;
  std::uint32_t number_of(const LinkSpec& spec);
  std::uint32_t part_number(std::string_view part);
  struct SpecHash {
    std::size_t operator()(const LinkSpec& spec) const;
  };

  DeviceIndex by_id_;  // of devices that were not copied
  std::unordered_map<std::string, std::uint32_t> part_numbers_;
  std::unordered_map<LinkSpec, std::uint32_t, SpecHash> spec_numbers_;
  std::unordered_map<std::string, std::uint32_t> copied_hosts_;  // by name: their first device
  std::uint32_t last_spec_ = 0;
  bool has_directed_links_ = false;
};

}  // namespace busbar
