#include "calibrate/import/nccl_env.h"

#include <gtest/gtest.h>

#include "tests/support/errors.h"

namespace busbar {
namespace {

NcclEnvironment read(const std::string& text) { return read_nccl_env(text, "e.env"); }
NcclSettings settings(const std::string& text) { return read(text).settings; }

const std::optional<EnabledSet<kNcclAlgorithms>>& algorithms(const NcclSettings& s, CollectiveKind kind) {
  return s.algorithms[static_cast<std::size_t>(kind)];
}

TEST(NcclEnv, ReadsLinesAsAShellHasThem) {
  const NcclSettings s = settings(
      "# a comment\n\n  export NCCL_BUFFSIZE=4194304\r\nNCCL_NTHREADS = \"256\"\nNCCL_CROSS_NIC='2' \n"
      "NCCL_NVLS_NCHANNELS=16 # half\nNCCL_P2P_NET_CHUNKSIZE=0x20000\nNCCL_COLLNET_ENABLE=\n"
      "NCCL_PXN_DISABLE=0\nNCCL_PXN_DISABLE=1\n");
  EXPECT_EQ(s.buffer_bytes, 4194304);
  EXPECT_EQ(s.threads, 256);
  EXPECT_EQ(s.cross_nic, 2);
  EXPECT_EQ(s.nvls_channels, 16);
  EXPECT_EQ(s.p2p_net_chunk_bytes, 131072);
  EXPECT_FALSE(s.collnet);
  EXPECT_EQ(s.pxn, false);
}

TEST(NcclEnv, ReadsEverySetting) {
  const NcclSettings s = settings(
      "NCCL_MIN_NCHANNELS=4\nNCCL_MAX_NCHANNELS=16\nNCCL_MIN_P2P_NCHANNELS=2\nNCCL_MAX_P2P_NCHANNELS=8\n"
      "NCCL_NCHANNELS_PER_NET_PEER=3\nNCCL_NVLS_ENABLE=0\nNCCL_COLLNET_ENABLE=1\nNCCL_P2P_DISABLE=1\n"
      "NCCL_NVLS_CHUNKSIZE=65536\nNCCL_P2P_NVL_CHUNKSIZE=1\nNCCL_P2P_PCI_CHUNKSIZE=2\nNCCL_LL128_NTHREADS="
      "640\n"
      "NCCL_NET_OVERHEAD=1200\nNCCL_NET_GDR_LEVEL=PHB\n");
  EXPECT_EQ(s.min_channels, 4);
  EXPECT_EQ(s.max_channels, 16);
  EXPECT_EQ(s.min_p2p_channels, 2);
  EXPECT_EQ(s.max_p2p_channels, 8);
  EXPECT_EQ(s.channels_per_net_peer, 3);
  EXPECT_EQ(s.nvls, false);
  EXPECT_EQ(s.collnet, true);
  EXPECT_EQ(s.p2p, false);
  EXPECT_EQ(s.nvls_chunk_bytes, 65536);
  EXPECT_EQ(s.p2p_nvl_chunk_bytes, 1);
  EXPECT_EQ(s.p2p_pci_chunk_bytes, 2);
  EXPECT_EQ(s.ll128_threads, 640);
  EXPECT_EQ(s.net_overhead_ns, 1200.0);
  EXPECT_EQ(s.gpu_direct_rdma, true);
}

TEST(NcclEnv, ReadsLevelsAndChoicesLeftToNccl) {
  EXPECT_EQ(settings("NCCL_NET_GDR_LEVEL=LOC").gpu_direct_rdma, false);
  EXPECT_EQ(settings("NCCL_NET_GDR_LEVEL=0").gpu_direct_rdma, false);
  EXPECT_EQ(settings("NCCL_NET_GDR_LEVEL=5").gpu_direct_rdma, true);
  EXPECT_EQ(settings("NCCL_IB_GDR_LEVEL=sys").gpu_direct_rdma, true);
  EXPECT_FALSE(settings("NCCL_NVLS_ENABLE=2").nvls);
  EXPECT_EQ(settings("NCCL_NVLS_ENABLE=1").nvls, true);
}

TEST(NcclEnv, TakesTheTighterOfTwoNamesOfABound) {
  const NcclSettings s =
      settings("NCCL_MIN_NCHANNELS=4\nNCCL_MIN_CTAS=8\nNCCL_MAX_CTAS=32\nNCCL_MAX_NRINGS=16\n");
  EXPECT_EQ(s.min_channels, 8);
  EXPECT_EQ(s.max_channels, 16);
}

TEST(NcclEnv, ReadsListsOfAlgorithms) {
  const NcclSettings s = settings("NCCL_ALGO=Ring,TREE");
  EXPECT_EQ(algorithms(s, CollectiveKind::kReduce), (EnabledSet<7>{true, true}));
  EXPECT_FALSE(algorithms(s, CollectiveKind::kAllToAll));
  EXPECT_EQ(algorithms(settings("NCCL_ALGO=^nvls,NVLSTree"), CollectiveKind::kAllReduce),
            (EnabledSet<7>{true, true, true, true, false, false, true}));
  const NcclSettings by = settings("NCCL_ALGO=\"allreduce:tree,collnetdirect;broadcast:^ring\"");
  EXPECT_EQ(algorithms(by, CollectiveKind::kAllReduce), (EnabledSet<7>{true, false, true}));
  EXPECT_EQ(algorithms(by, CollectiveKind::kBroadcast),
            (EnabledSet<7>{true, false, true, true, true, true, true}));
  EXPECT_FALSE(algorithms(by, CollectiveKind::kAllGather));
}

TEST(NcclEnv, ReadsListsOfProtocols) {
  const NcclSettings s = settings("NCCL_PROTO=ll;allgather:^LL128");
  EXPECT_EQ(s.protocols[static_cast<std::size_t>(CollectiveKind::kAllReduce)], (EnabledSet<3>{true}));
  EXPECT_EQ(s.protocols[static_cast<std::size_t>(CollectiveKind::kAllGather)],
            (EnabledSet<3>{true, false, true}));
}

TEST(NcclEnv, NamesWhatHasNoEffect) {
  const auto ignored =
      read("NCCL_DEBUG=INFO\nPATH=/bin\nNCCL_IB_HCA==mlx5_0:1\nNCCL_SOCKET_IFNAME=eth0\n").ignored;
  ASSERT_EQ(ignored.size(), 4U);
  EXPECT_EQ(ignored[0].name, "NCCL_DEBUG");
  EXPECT_EQ(ignored[0].reason, "logging");
  EXPECT_EQ(ignored[1].reason, "topology");
  EXPECT_EQ(ignored[3].name, "PATH");
  EXPECT_EQ(ignored[3].reason, "not NCCL's");
}

TEST(NcclEnv, SaysWhatIsWrong) {
  const auto error = [](const std::string& text) { return error_of([&] { (void)read(text); }); };
  EXPECT_EQ(error("\nNCCL_ALGOS=ring"),
            "e.env:2: NCCL has no variable 'NCCL_ALGOS'; did you mean 'NCCL_ALGO'?");
  EXPECT_EQ(error("NCCL_DEBUGG=1"),
            "e.env:1: NCCL has no variable 'NCCL_DEBUGG'; did you mean 'NCCL_DEBUG'?");
  EXPECT_EQ(error("NCCL_ALGO"), "e.env:1: expected NAME=value, got 'NCCL_ALGO'");
  EXPECT_EQ(error("set NCCL_ALGO=ring"), "e.env:1: expected NAME=value, got 'set NCCL_ALGO=ring'");
  EXPECT_EQ(
      error("NCCL_ALGO=rong"),
      "e.env:1: NCCL_ALGO: expected an algorithm: tree, ring, collnetdirect, collnetchain, nvls, nvlstree or "
      "pat, got 'rong'; did you mean 'ring'?");
  EXPECT_EQ(error("NCCL_ALGO=allredce:ring"),
            "e.env:1: NCCL_ALGO: expected a function: broadcast, reduce, allgather, reducescatter or "
            "allreduce, got "
            "'allredce'; did you mean 'allreduce'?");
  EXPECT_EQ(error("NCCL_PROTO=ll,"), "e.env:1: NCCL_PROTO: expected a protocol: ll, ll128 or simple, got ''");
  EXPECT_EQ(error("NCCL_MAX_NCHANNELS=0"),
            "e.env:1: NCCL_MAX_NCHANNELS: expected a whole number from 1 to 1024, got '0'");
  EXPECT_EQ(error("NCCL_CROSS_NIC=yes"),
            "e.env:1: NCCL_CROSS_NIC: expected a whole number from 0 to 2, got 'yes'");
  EXPECT_EQ(error("NCCL_BUFFSIZE=4M"),
            "e.env:1: NCCL_BUFFSIZE: expected a whole number from 1 to 1099511627776, got '4M'");
  EXPECT_EQ(error("NCCL_NTHREADS=100"), "e.env:1: NCCL_NTHREADS: expected a multiple of 32, got '100'");
  EXPECT_EQ(
      error("NCCL_NET_GDR_LEVEL=PIB"),
      "e.env:1: NCCL_NET_GDR_LEVEL: expected a level: LOC, NVL, PIX, PXB, PXN, PHB, SYS, C2C or P2C, got "
      "'PIB'; did you mean 'PIX'?");
  EXPECT_EQ(error("NCCL_MIN_CTAS=8\nNCCL_MAX_CTAS=4"),
            "e.env: expected at most as many channels in a MIN variable as in its MAX, got 8 and 4");
  EXPECT_EQ(error("NCCL_MIN_P2P_NCHANNELS=8\nNCCL_MAX_P2P_NCHANNELS=4"),
            "e.env: expected at most as many p2p channels in a MIN variable as in its MAX, got 8 and 4");
  EXPECT_EQ(error("X=" + std::string(70000, 'x')), "e.env:1: expected at most 64 KiB in a line, got more");
}

}  // namespace
}  // namespace busbar
