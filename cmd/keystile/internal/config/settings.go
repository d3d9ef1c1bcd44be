package config

import "github.com/keystile/keystile/gateway/console"

// Settings returns every key for the console. A secret is never among the values.
func (c *Config) Settings() (all []console.Setting) {
	for i, v := range c.Values {
		k := keys[i] // Values are in the order of the table
		all = append(all, console.Setting{Key: v.Key, Value: v.Text, Source: v.Source, Default: k.fallback, Help: k.help})
	}
	return all
}
