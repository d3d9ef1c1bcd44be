package config

import (
	"regexp"
	"testing"

	"github.com/keystile/keystile/cmd/keystile/internal/config/internal/chinese"
)

func TestEachKeyIsDescribedInChinese(t *testing.T) {
	han := regexp.MustCompile(`\p{Han}`)
	for _, k := range keys {
		if !han.MatchString(chinese.Keys[k.name]) {
			t.Errorf("%s is described as %q", k.name, chinese.Keys[k.name])
		}
	}
	if len(chinese.Keys) != len(keys) {
		t.Errorf("there are %d keys, and %d that are described", len(keys), len(chinese.Keys))
	}
	var c Config
	for _, k := range keys {
		c.Values = append(c.Values, Value{Key: k.name})
	}
	for _, s := range c.Settings() {
		if s.HelpChinese != chinese.Keys[s.Key] || s.Help == "" {
			t.Errorf("the console shows %+v", s)
		}
	}
}
