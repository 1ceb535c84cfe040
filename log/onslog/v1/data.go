package log

import "github.com/weirhq/weir/log/onslog/internal/wire"

// Data is an option of [Event], a map[string]any with what has no field of its
// own. Its keys are written in order, its values as encoding/json writes them.
type Data = wire.Data
