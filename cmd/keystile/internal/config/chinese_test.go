package config

import (
	"regexp"
	"testing"
)

func TestEachKeyIsDescribedInChinese(t *testing.T) {
	han := regexp.MustCompile(`\p{Han}`)
	for _, k := range keys {
		if !han.MatchString(chinese[k.name]) {
			t.Errorf("%s is described as %q", k.name, chinese[k.name])
		}
	}
	if len(chinese) != len(keys) {
		t.Errorf("there are %d keys, and %d that are described", len(keys), len(chinese))
	}
	var c Config
	for _, k := range keys {
		c.Values = append(c.Values, Value{Key: k.name})
	}
	for _, s := range c.Settings() {
		if s.HelpChinese != chinese[s.Key] || s.Help == "" {
			t.Errorf("the console shows %+v", s)
		}
	}
}
