#include "framework/base/ip_interfaces.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <cstring>

namespace ashlar::ip {
namespace {

OwnAddress address(const char* interface, const char* text) {
  OwnAddress own = {.candidate = {}, .interface = interface, .index = 1};
  own.candidate.family = std::strchr(text, ':') != nullptr ? 6 : 4;
  EXPECT_EQ(inet_pton(own.candidate.family == 4 ? AF_INET : AF_INET6, text, own.candidate.bytes), 1);
  return own;
}

TEST(InterfacesText, NamesAndSubnets) {
  const OwnAddress eth = address("eth0", "10.1.2.3"), docker = address("docker0", "172.17.0.1"),
                   six = address("eth0", "fd00:1::5");
  const auto allows = [&](const char* text) {
    const Interfaces wanted(text);
    EXPECT_EQ(wanted.wrong(), "") << text;
    return (wanted.allows(eth) ? 1 : 0) + (wanted.allows(docker) ? 2 : 0) + (wanted.allows(six) ? 4 : 0);
  };
  EXPECT_EQ(allows("auto"), 7);
  EXPECT_EQ(allows(""), 7);
  EXPECT_EQ(allows("eth0"), 5);
  EXPECT_EQ(allows("^docker0"), 5);
  EXPECT_EQ(allows("10.1.0.0/16"), 1);
  EXPECT_EQ(allows("10.1.2.0/25,docker0"), 3);
  EXPECT_EQ(allows("^10.0.0.0/8"), 6);
  EXPECT_EQ(allows("fd00:1::/64"), 4);
  EXPECT_EQ(allows("0.0.0.0/0"), 3);
  EXPECT_EQ(allows("eth1"), 0);
}

TEST(InterfacesText, WhatIsNoSubnetIsNamed) {
  EXPECT_EQ(Interfaces("eth0,10.0.0.0/33").wrong(), "10.0.0.0/33");
  EXPECT_EQ(Interfaces("10.0.0/8").wrong(), "10.0.0/8");
  EXPECT_EQ(Interfaces("10.0.0.0/").wrong(), "10.0.0.0/");
  EXPECT_EQ(Interfaces("fd00::/129").wrong(), "fd00::/129");
}

TEST(Subnets, BitsThatAreNoWholeBytes) {
  const std::uint8_t a[4] = {10, 0, 0, 130}, b[4] = {10, 0, 0, 200}, c[4] = {10, 0, 0, 5};
  EXPECT_TRUE(same_subnet(a, b, 25));
  EXPECT_FALSE(same_subnet(a, c, 25));
  EXPECT_TRUE(same_subnet(a, c, 24));
  EXPECT_TRUE(same_subnet(a, a, 32));
  EXPECT_FALSE(same_subnet(a, b, 32));
  EXPECT_TRUE(same_subnet(a, c, 0));
}

TEST(OwnAddresses, TheLoopbackIsThereAndLast) {
  const auto all = own_addresses(Interfaces("auto"));
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(all.back().candidate.reach, kLoopback);
  for (const OwnAddress& own : own_addresses(Interfaces("lo"))) EXPECT_EQ(own.candidate.reach, kLoopback);
}

TEST(Ways, TheOwnSubnetComesFirstAndTheLoopbackBeforeItOnOneHost) {
  OwnAddress mine = address("eth0", "10.1.2.3");
  mine.candidate.prefix = 24;
  std::vector<Candidate> theirs;
  for (const char* text : {"10.9.0.1", "10.1.2.4", "127.0.0.1"}) {
    theirs.push_back(address("any", text).candidate);
    theirs.back().prefix = 24;
  }
  theirs.back().reach = kLoopback;
  const auto in_words = [&](bool same_host) {
    std::string all;
    for (const SocketAddress& way : ways_to(theirs, 77, same_host, {mine})) all += way.text() + " ";
    return all;
  };
  EXPECT_EQ(in_words(false), "10.1.2.4:77 10.9.0.1:77 ");
  EXPECT_EQ(in_words(true), "127.0.0.1:77 10.1.2.4:77 10.9.0.1:77 ");
}

TEST(Ways, EachLinkIsTriedForALinkLocalAddress) {
  OwnAddress one = address("eth0", "fe80::1"), two = address("eth1", "fe80::2");
  one.candidate.reach = two.candidate.reach = kLinkLocal;
  two.index = 2;
  Candidate theirs = address("any", "fe80::9").candidate;
  theirs.reach = kLinkLocal;
  const std::vector<SocketAddress> ways = ways_to({theirs}, 77, false, {one, two});
  ASSERT_EQ(ways.size(), 2u);
  EXPECT_EQ(ways[0].v6.sin6_scope_id, 1u);
  EXPECT_EQ(ways[1].v6.sin6_scope_id, 2u);
}

}  // namespace
}  // namespace ashlar::ip
