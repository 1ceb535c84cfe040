package proxyproto

import (
	"encoding/binary"
	"hash/crc32"
	"net/netip"
)

// fixedLen is the length of the part of a header of version 2 before the addresses: the
// signature, the version and command, the family and protocol, and the length of the rest.
const fixedLen = 16

// The commands and the families that parseBlock distinguishes.
const (
	commandLocal = 0x0
	commandProxy = 0x1

	familyNone      = 0x00
	familyStream4   = 0x11
	familyDatagram4 = 0x12
	familyStream6   = 0x21
	familyDatagram6 = 0x22
	familyStreamUn  = 0x31
	familyDatagrUn  = 0x32
)

// parseBlock parses a complete header of version 2.
func parseBlock(b []byte) (h Header, err error) {
	command, family, rest := b[12]&0xf, b[13], b[fixedLen:]
	switch command {
	case commandLocal:
		return h, nil // the rest, with the family, must be ignored
	case commandProxy:
	default:
		return h, Malformed("the command is unknown")
	}
	size := 0 // of an address
	switch family {
	case familyNone:
		return h, nil
	case familyStream4, familyDatagram4:
		size = 4
	case familyStream6, familyDatagram6:
		size = 16
	case familyStreamUn, familyDatagrUn:
		size = 108
	default:
		return h, Malformed("the protocol family is unknown")
	}
	addresses := 2 * size
	if family < familyStreamUn {
		addresses += 4
	}
	if len(rest) < addresses {
		return h, Malformed("the addresses are incomplete")
	}
	switch family {
	case familyStream4, familyStream6:
		ports := rest[2*size:]
		h.Source = endpoint(rest[:size], ports)
		h.Destination = endpoint(rest[size:2*size], ports[2:])
	}
	return h, checkExtensions(b, fixedLen+addresses)
}

func endpoint(address, port []byte) netip.AddrPort {
	addr, _ := netip.AddrFromSlice(address)
	return netip.AddrPortFrom(addr.Unmap(), binary.BigEndian.Uint16(port))
}

// typeChecksum is the type of the extension with the CRC32c of the header.
const typeChecksum = 0x03

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checkExtensions checks the extensions, each with a type, a length and a value, which begin
// at the given offset. It uses only the checksum.
func checkExtensions(b []byte, at int) error {
	for at < len(b) {
		if len(b)-at < 3 {
			return Malformed("an extension is incomplete")
		}
		kind, size := b[at], int(binary.BigEndian.Uint16(b[at+1:]))
		value := at + 3
		if len(b)-value < size {
			return Malformed("an extension is longer than the header")
		}
		if kind == typeChecksum {
			if size != 4 || checksum(b, value) != binary.BigEndian.Uint32(b[value:]) {
				return Malformed("the checksum is wrong")
			}
		}
		at = value + size
	}
	return nil
}

// checksum returns the CRC32c of a header whose checksum, at the given offset, counts as zero.
func checksum(b []byte, at int) uint32 {
	var zero [4]byte
	sum := crc32.Update(0, castagnoli, b[:at])
	sum = crc32.Update(sum, castagnoli, zero[:])
	return crc32.Update(sum, castagnoli, b[at+len(zero):])
}

// AppendBlock appends a header of version 2. If an endpoint is invalid, the header says that
// the connection has no client (LOCAL).
func AppendBlock(b []byte, h Header) []byte {
	b = append(b, signature2...)
	source, destination, ok := h.sameFamily()
	if !ok {
		return append(b, 0x20|commandLocal, familyNone, 0, 0)
	}
	family := byte(familyStream6)
	if source.Addr().Is4() {
		family = familyStream4
	}
	from, to := source.Addr().AsSlice(), destination.Addr().AsSlice()
	b = append(b, 0x20|commandProxy, family)
	b = binary.BigEndian.AppendUint16(b, uint16(2*len(from)+4))
	b = append(append(b, from...), to...)
	b = binary.BigEndian.AppendUint16(b, source.Port())
	return binary.BigEndian.AppendUint16(b, destination.Port())
}
