package restcall

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/keystile/keystile/internal/rawjson"
)

// lineTypes are the types of bodies that are JSON values, one after the other.
var lineTypes = []string{
	"application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonl", "application/x-jsonlines",
	"application/jsonlines",
	typeSequence, "text/x-ndjson", "text/ndjson", "text/jsonl",
}

const typeSequence = "application/json-seq" // RFC 7464

// IsLines reports a media type of JSON values that stand one after the other. It has no parameters.
func IsLines(media string) bool { return slices.Contains(lineTypes, media) }

// lines writes the elements of a list, each as a line.
func lines(list json.RawMessage, media string) []byte {
	var out bytes.Buffer
	for e := range rawjson.Elements(list) {
		if media == typeSequence {
			out.WriteByte(0x1e)
		}
		json.Compact(&out, e) // it is valid; no line breaks remain
		out.WriteByte('\n')
	}
	return out.Bytes()
}
