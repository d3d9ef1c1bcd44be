// Package rawjson checks JSON once and then reads it where it lies, so that numbers keep
// their digits, names their case, and nothing is copied that is only passed on.
//
//	if err := rawjson.Check(text, rawjson.Limits{Depth: 64, Once: true}); err != nil { ... }
//	for name, value := range rawjson.Members(rawjson.Trim(text)) { ... }
//
// All that read, but for Check, take only text that Check or json.Valid has found to be valid;
// on anything else they may panic or never end.
package rawjson
