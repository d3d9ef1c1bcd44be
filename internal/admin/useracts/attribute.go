package useracts

import "maps"

// merged returns attributes with some of them changed.
func merged(now map[string]string, changes map[string]*string) map[string]string {
	after := maps.Clone(now)
	if after == nil {
		after = map[string]string{}
	}
	for name, value := range changes {
		if delete(after, name); value != nil {
			after[name] = *value
		}
	}
	return after
}
