package script

import (
	"crypto/sha256"
	"encoding/binary"
	"net/netip"
	"strconv"

	"github.com/keystile/keystile/internal/network"
)

// Buckets are HASHes that strangers share. Those with one tag are in one slot of a cluster.
const (
	Tags    = 2048 // groups of them
	perTag  = 8    // of clients, and of accounts
	netsTag = 4    // of networks
	siteBit = 48   // of IPv6: what of a site is counted, its networks too, has one tag
)

// Keys names keys. Fields and buckets come from a hash with a seed that strangers do not know, so that nobody aims
// at another's.
type Keys struct {
	Prefix string
	Seed   [16]byte
	Tags   uint64 // how many there are: Tags, or fewer in tests
}

// Place says where an event of a client is counted.
type Place struct {
	Bucket, List, Nets string
	Field              string
}

type hash [sha256.Size]byte

func (h hash) field() string { return string(h[:8]) }
func (h hash) sub() uint64   { return uint64(h[10]) % perTag }

// App names the window of an application. An application is not a stranger's to make up.
func (k *Keys) App(clientID string) string { return k.Prefix + ":app:" + clientID }

// Client says where events of a kind and a name are counted for a client. The kind has no byte that is 0.
func (k *Keys) Client(kind, name string, client netip.Prefix) Place {
	own := k.sum(kind, name, client)
	group := own
	if client.Addr().Is6() && client.Bits() >= siteBit {
		site, _ := client.Addr().Prefix(siteBit)
		group = k.sum(kind, "", site)
	}
	base := k.base(kind, group)
	return Place{
		Bucket: base + strconv.FormatUint(own.sub(), 16), List: base + "l" + own.field(),
		Nets:  base + "n" + strconv.FormatUint(group.sub()%netsTag, 16),
		Field: own.field(),
	}
}

// Field names a network within the bucket of networks that Client or Wider has said.
func (k *Keys) Field(kind, name string, p netip.Prefix) string { return k.sum(kind, name, p).field() }

// Wider says where the networks are counted that are too wide to be in the client's slot: those of
// IPv4, and a /32 of IPv6. A client in no network has a place of its own.
func (k *Keys) Wider(kind, name string, client netip.Prefix) (bucket string) {
	widest := client
	for p, _, more := network.Widen(client); more; p, _, more = network.Widen(p) {
		widest = p
	}
	if widest == (netip.Prefix{}) {
		return k.base(kind, k.sum(kind, name, widest)) + "w"
	}
	return k.base(kind, k.sum(kind, "", widest)) + "w"
}

// Account says where attempts at an account are counted.
func (k *Keys) Account(account [32]byte) (bucket, field string) {
	h := k.sum("d", string(account[:]), netip.Prefix{})
	return k.base("d", h) + strconv.FormatUint(h.sub(), 16), h.field()
}

// Mark names the i-th of the keys by which masters are known.
func (k *Keys) Mark(i int) string { return k.Prefix + ":{m" + strconv.Itoa(i) + "}" }

func (k *Keys) base(kind string, h hash) string {
	return k.Prefix + ":{" + strconv.FormatUint(uint64(binary.BigEndian.Uint16(h[8:]))%k.Tags, 16) + "}" + kind
}

func (k *Keys) sum(kind, name string, p netip.Prefix) hash {
	var room [160]byte
	b := append(room[:0], k.Seed[:]...)
	b = append(append(b, kind...), 0)
	a := p.Addr().As16()
	b = append(append(b, a[:]...), byte(p.Bits()), byte(p.Addr().BitLen()))
	return sha256.Sum256(append(b, name...))
}
