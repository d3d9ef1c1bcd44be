package demo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// claim is one line of the table.
type claim struct {
	Name, Value string
	Text        bool // of JSON's texts, as opposed to numbers and booleans
}

// readClaims reads a JSON object in the order it is written in.
func readClaims(body []byte) ([]claim, error) {
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	if _, err := dec.Token(); err != nil { // the brace
		return nil, err
	}
	var claims []claim
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, err
		}
		var value any
		if err := dec.Decode(&value); err != nil {
			return nil, err
		}
		_, text := value.(string)
		claims = append(claims, claim{fmt.Sprint(name), fmt.Sprint(value), text})
	}
	return claims, nil
}

// greeting is the name a person is called by here.
func greeting(claims []claim) string {
	for _, wanted := range strings.Fields("nickname name preferred_username sub") {
		for _, c := range claims {
			if c.Name == wanted && c.Value != "" {
				return c.Value
			}
		}
	}
	return "somebody"
}
