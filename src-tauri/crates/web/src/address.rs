//! Which addresses belong to public computers (the special-purpose registries of IANA, RFC 6890 and after).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether an address is one of a public computer's: not this machine, not its network, not a provider's inside, not
/// a way of writing one of these in another form.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

/// Networks by their first address and the length of what they share.
const NOT_PUBLIC_V4: &[(Ipv4Addr, u32)] = &[
    (Ipv4Addr::new(0, 0, 0, 0), 8),
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    (Ipv4Addr::new(100, 64, 0, 0), 10),
    (Ipv4Addr::new(127, 0, 0, 0), 8),
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    (Ipv4Addr::new(192, 0, 0, 0), 24),
    (Ipv4Addr::new(192, 0, 2, 0), 24),
    (Ipv4Addr::new(192, 31, 196, 0), 24),
    (Ipv4Addr::new(192, 52, 193, 0), 24),
    (Ipv4Addr::new(192, 88, 99, 0), 24),
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    (Ipv4Addr::new(192, 175, 48, 0), 24),
    (Ipv4Addr::new(198, 18, 0, 0), 15),
    (Ipv4Addr::new(198, 51, 100, 0), 24),
    (Ipv4Addr::new(203, 0, 113, 0), 24),
    (Ipv4Addr::new(224, 0, 0, 0), 3),
];

fn is_public_v4(address: Ipv4Addr) -> bool {
    // A cloud's inside that looks public: where machines of Azure ask about themselves.
    let inside = address == Ipv4Addr::new(168, 63, 129, 16);
    let within = |(network, length): &(Ipv4Addr, u32)| (u32::from(address) ^ u32::from(*network)) >> (32 - length) == 0;
    !inside && !NOT_PUBLIC_V4.iter().any(within)
}

/// What of the public block is not: rooms for documentation and tests, and other networks written as addresses of this
/// one (Teredo and 6to4 carry an IPv4 address inside).
const NOT_PUBLIC_V6: &[(Ipv6Addr, u32)] = &[
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23),
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32),
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16),
    (Ipv6Addr::new(0x2620, 0x4f, 0x8000, 0, 0, 0, 0, 0), 48),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20),
];

fn is_public_v6(address: Ipv6Addr) -> bool {
    let within = |network: Ipv6Addr, length: u32| (u128::from(address) ^ u128::from(network)) >> (128 - length) == 0;
    // Networks without IPv4 write every IPv4 address like this; what is inside counts.
    if within(Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0, 0), 96) {
        let [.., a, b, c, d] = address.octets();
        return is_public_v4(Ipv4Addr::new(a, b, c, d));
    }
    let public = within(Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3);
    public && !NOT_PUBLIC_V6.iter().any(|(network, length)| within(*network, *length))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(addresses: &[&str], expected: bool) {
        for address in addresses {
            assert_eq!(is_public(address.parse().unwrap()), expected, "{address}");
        }
    }

    #[test]
    fn public_addresses_are_public() {
        check(
            &[
                "1.1.1.1",
                "8.8.8.8",
                "93.184.216.34",
                "100.63.255.255",
                "100.128.0.0",
                "172.15.0.1",
                "172.32.0.1",
            ],
            true,
        );
        check(
            &[
                "192.167.0.1",
                "198.17.0.1",
                "198.20.0.1",
                "223.255.255.255",
                "169.253.0.1",
                "11.0.0.0",
            ],
            true,
        );
        check(
            &["2606:4700::1111", "2a00:1450::1", "2001:200::1", "64:ff9b::808:808"],
            true,
        );
    }

    #[test]
    fn what_lies_inside_is_not() {
        check(
            &[
                "127.0.0.1",
                "127.255.255.254",
                "0.0.0.0",
                "0.1.2.3",
                "10.1.2.3",
                "172.16.0.1",
                "172.31.255.255",
            ],
            false,
        );
        check(
            &[
                "192.168.1.1",
                "169.254.169.254",
                "100.64.0.1",
                "100.100.100.200",
                "100.127.255.255",
            ],
            false,
        );
        check(
            &[
                "192.0.0.170",
                "198.18.0.1",
                "198.19.255.255",
                "224.0.0.1",
                "240.0.0.1",
                "255.255.255.255",
            ],
            false,
        );
        check(
            &[
                "168.63.129.16",
                "192.0.2.1",
                "198.51.100.1",
                "203.0.113.1",
                "192.88.99.1",
            ],
            false,
        );
        check(
            &[
                "::",
                "::1",
                "fe80::1",
                "fc00::1",
                "fd00:ec2::254",
                "ff02::1",
                "fec0::1",
                "100::1",
                "5f00::1",
            ],
            false,
        );
        check(
            &["2001:db8::1", "3fff::1", "2001::1", "2002:7f00:1::", "2002:808:808::"],
            false,
        );
        check(
            &[
                "::ffff:127.0.0.1",
                "::ffff:8.8.8.8",
                "::127.0.0.1",
                "64:ff9b::7f00:1",
                "64:ff9b::a9fe:a9fe",
                "64:ff9b:1::808:808",
            ],
            false,
        );
    }
}
