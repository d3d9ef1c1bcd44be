package declare

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// referable holds the fields, by the kind of their document, whose value may stand elsewhere: secrets, which do not
// belong in a file that is kept with others, and documents of APIs, which have files of their own.
var referable = map[string][]string{
	"capability": {"auth_secret", "webhook_secret", "headers", "openapi", "tools_static"},
}

// Resolve puts in the place of {env: NAME} and {file: PATH} what they stand for, in the fields that may have them. A
// path is below the folder of the document, unless it begins at the root. The process of the caller resolves
// them: a server would read its own files.
func (d Document) Resolve(dir string, getenv func(string) (string, bool), read func(string) ([]byte, error)) error {
	for _, name := range referable[d.Kind] {
		value, there := d.Fields[name]
		if !there {
			continue
		}
		resolved, err := resolve(value, dir, getenv, read)
		if name == "headers" {
			resolved, err = resolveEach(value, dir, getenv, read)
		}
		if err != nil {
			return d.wrong("%s: %w", name, err)
		}
		d.Fields[name] = resolved
	}
	return nil
}

// resolveEach resolves the values of an object.
func resolveEach(value json.RawMessage, dir string, getenv func(string) (string, bool),
	read func(string) ([]byte, error)) (json.RawMessage, error) {
	var each map[string]json.RawMessage
	if json.Unmarshal(value, &each) != nil {
		return value, nil // it is told later what it must be
	}
	for name, one := range each {
		resolved, err := resolve(one, dir, getenv, read)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		each[name] = resolved
	}
	return json.Marshal(each)
}

func resolve(value json.RawMessage, dir string, getenv func(string) (string, bool),
	read func(string) ([]byte, error)) (json.RawMessage, error) {
	var from map[string]json.RawMessage
	if json.Unmarshal(value, &from) != nil || len(from) != 1 {
		return value, nil
	}
	var name string
	switch {
	case json.Unmarshal(from["env"], &name) == nil:
		text, there := getenv(name)
		if !there || text == "" {
			return nil, fmt.Errorf("the environment has no %s", name)
		}
		return json.Marshal(text)
	case json.Unmarshal(from["file"], &name) == nil:
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		text, err := read(name)
		if err != nil {
			return nil, err
		}
		return json.Marshal(strings.TrimRight(string(text), "\r\n"))
	}
	return value, nil
}

// referred reports whether a value was left unresolved.
func referred(value json.RawMessage) bool {
	var from map[string]json.RawMessage
	return json.Unmarshal(value, &from) == nil && len(from) == 1 &&
		slices.ContainsFunc([]string{"env", "file"}, func(k string) bool { return from[k] != nil })
}
