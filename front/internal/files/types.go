package files

import (
	"mime"
	"path"
	"strings"
)

// types are the media types of extensions. They have precedence over the tables of the
// system, which minimal containers lack, so that a site has the same types on all machines.
var types = map[string]string{
	".html": "text/html; charset=utf-8", ".htm": "text/html; charset=utf-8",
	".css": "text/css; charset=utf-8",
	".js":  "text/javascript; charset=utf-8", ".mjs": "text/javascript; charset=utf-8",
	".txt": "text/plain; charset=utf-8", ".md": "text/markdown; charset=utf-8",
	".csv": "text/csv; charset=utf-8", ".xml": "text/xml; charset=utf-8",
	".vtt": "text/vtt; charset=utf-8", ".ics": "text/calendar; charset=utf-8",
	".json": "application/json", ".map": "application/json", ".jsonld": "application/ld+json",
	".webmanifest": "application/manifest+json", ".geojson": "application/geo+json",
	".atom": "application/atom+xml", ".rss": "application/rss+xml", ".xhtml": "application/xhtml+xml",
	".wasm": "application/wasm", ".pdf": "application/pdf", ".rtf": "application/rtf",
	".zip": "application/zip", ".gz": "application/gzip", ".zst": "application/zstd",
	".tar": "application/x-tar", ".7z": "application/x-7z-compressed",
	".svg": "image/svg+xml", ".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg",
	".gif": "image/gif", ".webp": "image/webp", ".avif": "image/avif", ".ico": "image/x-icon",
	".bmp": "image/bmp", ".tif": "image/tiff", ".tiff": "image/tiff", ".jxl": "image/jxl",
	".woff": "font/woff", ".woff2": "font/woff2", ".ttf": "font/ttf", ".otf": "font/otf",
	".mp4": "video/mp4", ".m4v": "video/mp4", ".webm": "video/webm", ".mov": "video/quicktime", ".ogv": "video/ogg",
	".mp3": "audio/mpeg", ".m4a": "audio/mp4", ".ogg": "audio/ogg", ".opus": "audio/ogg",
	".wav": "audio/wav", ".flac": "audio/flac", ".aac": "audio/aac", ".weba": "audio/webm",
	".xls": "application/vnd.ms-excel", ".doc": "application/msword", ".ppt": "application/vnd.ms-powerpoint",
	".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
	".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
	".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
	".ods":  "application/vnd.oasis.opendocument.spreadsheet",
}

// LoadTypes reads the system's tables of types. Otherwise the first request for an extension
// that is not in types would wait for the disk.
func LoadTypes() { mime.TypeByExtension(".html") }

// typeOf returns the Content-Type of a file by its name. The content is not examined: a
// browser, too, must not guess it.
func typeOf(name string) string {
	extension := path.Ext(name)
	if t := types[extension]; t != "" {
		return t
	}
	if t := types[strings.ToLower(extension)]; t != "" {
		return t
	}
	if t := mime.TypeByExtension(extension); t != "" {
		return t
	}
	return "application/octet-stream"
}
