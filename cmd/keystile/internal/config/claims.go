package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/keystile/keystile/storage/claim"
)

// setClaims reads a list of rules.
func (c *Config) setClaims(s string) error {
	if !isList(s) {
		return errors.New("it must be a list of objects, each with claim and from")
	}
	d := json.NewDecoder(strings.NewReader(s))
	d.DisallowUnknownFields()
	if err := d.Decode(&c.ClaimRules); err != nil || d.Decode(new(any)) != io.EOF {
		return fmt.Errorf("each rule has claim and from, and may have scope and in, which is a list: %w", err)
	}
	return claim.Check(c.ClaimRules)
}
