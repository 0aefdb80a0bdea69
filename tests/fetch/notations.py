"""Every way we know of to write an address that must not be connected to (A02, F55)."""

from __future__ import annotations

REFUSED = (
    # Loopback, this network, private, shared, link-local and metadata (RFC 6890)
    "127.0.0.1", "127.255.255.254", "0.0.0.0", "0.1.2.3", "10.0.0.1", "172.16.0.1", "172.31.255.255",
    "192.168.1.1",
    "100.64.0.1", "100.100.100.200", "100.127.255.255", "169.254.0.1", "169.254.169.254", "169.254.170.2",
    # Special purposes, documentation, benchmarking, multicast, reserved, broadcast
    "168.63.129.16", "192.0.0.1", "192.0.0.8", "192.0.0.170", "192.0.2.1", "192.31.196.1", "192.52.193.1",
    "192.88.99.1", "192.175.48.1", "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1",
    "239.255.255.250", "240.0.0.1", "255.255.255.255",
    # IPv6: unspecified, loopback, unique local, link-local, site-local, multicast, discard, documentation
    "::", "::1", "fc00::1", "fd00::1", "fd00:ec2::254", "fe80::1", "fe80::1%1", "fec0::1", "ff02::1",
    "ff0e::1",
    "100::1", "2001:db8::1", "3fff::1", "5f00::1", "4000::1", "2620:4f:8000::1",
    # IPv4 in IPv6 clothes: mapped, translated, compatible, 6to4, Teredo, ISATAP, NAT64
    "::ffff:127.0.0.1", "::ffff:8.8.8.8", "::ffff:169.254.169.254", "::ffff:0:127.0.0.1", "::127.0.0.1",
    "::8.8.8.8",
    "2002:7f00:1::", "2002:a9fe:a9fe::1", "2002:808:808::1", "2001::1", "2001:0:7f00:1::1", "2001:10::1",
    "2001:20::1",
    "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b::10.0.0.1", "64:ff9b:1::1", "64:ff9b:1::808:808",
    "fe80::5efe:7f00:1",
)  # fmt: skip

ALLOWED = ("8.8.8.8", "93.184.216.34", "1.1.1.1", "2606:4700:4700::1111", "2a00:1450:4001::1", "64:ff9b::808:808")

HOSTS = (
    # Addresses as resolvers and browsers read them
    "127.0.0.1", "127.1", "127.0.1", "2130706433", "0x7f000001", "0x7f.1", "0x7F.0.0.1", "0177.0.0.1",
    "017700000001",
    "0", "0.0.0.0", "127.0.0.1.", "[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]",
    "[64:ff9b::7f00:1]",
    "[fe80::1%25eth0]", "[::1", "::1", "[v1.a]", "169.254.169.254", "0xa9fea9fe", "2852039166", "8.8.8.8",
    "\u0661\u0662\u0667.0.0.1", "\uff11\uff12\uff17.0.0.1", "127\u3002 0.0.1", "127\u30020\u30020\u30021",
    "\u2460\u2461\u2466.0.0.1",
    # Names of the inside, single labels, junk
    "localhost", "localhost.", "foo.localhost", "LOCALHOST", "printer.local", "db.internal",
    "metadata.google.internal",
    "intranet", "shop", "router.home.arpa", "1.0.0.127.in-addr.arpa", "hidden.onion", "shop.0x7f", "shop.1",
    "a.b.0x",
    "shop.example.", "shop..example", ".shop.example", "-shop.example", "shop-.example", "a_b.example",
    "*.example",
    "sh op.example", "shop.example%00.evil.example", "shop.example%2f.evil.example",
    "x';drop table p;--.example",
    "shop.example\\@evil.example", "user@shop.example", "user:pw@shop.example", "shop.example:80",
    "shop.example:443",
    "shop.example:8443", "shop.example:", "a" * 64 + ".example", ".".join(["a" * 60] * 5),
    "sh\u00f6p.example",
    "sh\u00adop.example", "SHOP.example", "", " ", "\t", "\r\nHost: evil.example", "shop.example\r\nX: y",
    "\u2028.example",
)  # fmt: skip

URLS = (
    "http://shop.example/", "ftp://shop.example/", "file:///etc/passwd", "gopher://shop.example:70/_x",
    "//shop.example/",
    "data:text/html,x", "javascript:alert(1)", "mailto:a@shop.example", "https:shop.example/",
    "https:/shop.example/",
    "https:///shop.example/", "https:\\\\shop.example\\", "HTTPS://shop.example/", "wss://shop.example/",
    "https://shop.example/#fragment", "https://shop.example/a b", "https://shop.example/\r\nX: y",
    "https://shop.example/\0",
    "https://shop.example/\u00e9", "https://shop.example?x=1", "https://shop.example/\x7f", "",
    "shop.example", "/",
)  # fmt: skip
