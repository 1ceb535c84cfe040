package readable

import (
	"fmt"
	"math"
	"strings"
)

// Clock writes a time since the beginning of the run.
func Clock(seconds float64) string {
	if seconds < 60 {
		return strings.TrimSuffix(fmt.Sprintf("%.2f", seconds), ".00") + " s"
	}
	whole := int(math.Round(seconds))
	if whole < 3600 {
		return fmt.Sprintf("%d:%02d", whole/60, whole%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", whole/3600, whole/60%60, whole%60)
}
