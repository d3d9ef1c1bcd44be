package config

import (
	"encoding/json"
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/keystile/keystile/cmd/keystile/internal/redact"
)

// shown returns what is shown of a value: nothing of a secret, of a list of objects all but the secrets in it, and of
// no value the password of an address.
func shown(k key, text string) string {
	list := k.list(text)
	switch {
	case text == "":
		return ""
	case list == nil && k.secret:
		return "[secret]"
	case list == nil:
		return redact.Text(text)
	}
	for _, o := range list {
		for name, value := range o {
			switch value := value.(type) {
			case string:
				o[name] = redact.Text(value)
			case []any:
				for i := range value {
					if one, ok := value[i].(string); ok {
						value[i] = redact.Text(one)
					}
				}
			}
			if name == "secret" {
				o[name] = "[secret]"
			}
			if redact.Hides(name) {
				return "[secret]"
			}
		}
	}
	all, err := json.Marshal(list)
	if err != nil {
		return "[secret]"
	}
	return string(all)
}

// list returns the objects of a value that has some; nil: it has none, or cannot be read.
func (k key) list(text string) (list []map[string]any) {
	if !k.objects || !isList(text) || yaml.Unmarshal([]byte(text), &list) != nil {
		return nil
	}
	return list
}

// texts returns the parts of a value in each of which an address may be: the whole of it or, of a list of objects, the
// names and values of all of them.
func (k key) texts(text string) (all []string) {
	list := k.list(text)
	if list == nil {
		return []string{text}
	}
	for _, o := range list {
		for name, value := range o {
			if all = append(all, name); name != "secret" {
				all = append(all, fmt.Sprint(value))
			}
		}
	}
	return all
}
