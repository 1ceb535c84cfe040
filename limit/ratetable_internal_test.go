package limit

import (
	"math/rand/v2"
	"testing"
)

// TestShardForgetsNoDebt puts many more keys into a small table than fit, with hashes
// that select only a few homes. Whatever happens to a key in growing tables and shared
// buckets, its bucket must never be fuller than it was left, except for the time that
// has passed.
func TestShardForgetsNoDebt(t *testing.T) {
	for seed := range uint64(2000) {
		random := rand.New(rand.NewPCG(seed, 1))
		var s shard
		s.init(16+random.IntN(40), 0)
		base, span := random.Uint64()>>1, uint64(1+random.IntN(20))<<57
		debts := map[uint64]int64{}
		hashes := make([]uint64, 200)
		for i := range hashes {
			hashes[i] = base + random.Uint64N(span) | 1
		}
		for now := range int64(400) {
			hash := hashes[random.IntN(len(hashes))]
			full, _ := s.bucket(hash, now)
			if debt := debts[hash]; debt > now && *full < debt {
				t.Fatalf("seed %d: at %d the bucket of %x is full at %d, and was left to be full at %d", seed, now,
					hash, *full, debt)
			}
			*full = max(*full, now) + random.Int64N(500)
			debts[hash] = *full
		}
		if got, most := len(s.slots), s.maxHomes+window; got > most {
			t.Fatalf("seed %d: %d slots, want at most %d", seed, got, most)
		}
	}
}
