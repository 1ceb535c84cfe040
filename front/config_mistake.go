package front

import "github.com/weirhq/weir/internal/yamlfile"

// Mistake is one thing wrong with a configuration file: see its fields.
type Mistake = yamlfile.Mistake

// Mistakes is everything wrong with a file, in the order of the file. It is an
// error of a line for each, in which errors.As finds a single [Mistake].
type Mistakes = yamlfile.Mistakes
