package files

import "github.com/weirhq/weir/internal/httpsyntax"

// suffixes are the suffixes of precompressed files by content coding.
var suffixes = map[string]string{"zstd": ".zst", "br": ".br", "gzip": ".gz"}

// Codings returns the codings that [Site.Precompressed] may contain.
func Codings() []string { return []string{"zstd", "br", "gzip"} }

// preferred calls try with the codings that a client accepts, in the order of its weights
// and then of the list, until try returns true.
func preferred(acceptEncoding string, codings []string, try func(coding string) bool) {
	for above := httpsyntax.MaxQuality + 1; above > 0; {
		next := 0
		for _, coding := range codings {
			if quality := httpsyntax.CodingQuality(acceptEncoding, coding); quality < above {
				next = max(next, quality)
			}
		}
		for _, coding := range codings {
			if next > 0 && httpsyntax.CodingQuality(acceptEncoding, coding) == next && try(coding) {
				return
			}
		}
		above = next
	}
}
