package config

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"go.yaml.in/yaml/v3"

	"github.com/keystile/keystile/cmd/keystile/internal/config/internal/chinese"
	"github.com/keystile/keystile/gateway/console"
)

// Print writes the effective configuration as a configuration file, each value with the place it
// came from. A value that a file may not hold is a comment.
func (c *Config) Print(w io.Writer) error {
	tab := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	for _, v := range c.Values {
		value := &yaml.Node{Kind: yaml.ScalarNode, Value: v.Text}
		if value.ShortTag() == "!!null" {
			value.Style = yaml.DoubleQuotedStyle // without quotes it would be no value
		}
		quoted, err := yaml.Marshal(value)
		if err != nil {
			return err
		}
		if v.objects && isList(v.Text) {
			quoted = []byte(v.Text)
		}
		line := v.Key + ": " + strings.TrimSpace(string(quoted))
		if !v.inFile {
			line = "# " + line
		}
		fmt.Fprintf(tab, "%s\t# %s\n", line, v.Source)
	}
	return tab.Flush()
}

// Settings returns every key for the console. A secret is never among the values.
func (c *Config) Settings() (all []console.Setting) {
	for i, v := range c.Values {
		k := keys[i] // Values are in the order of the table
		all = append(all, console.Setting{Key: v.Key, Value: v.Text, Source: v.Source, Default: k.fallback, Help: k.help,
			HelpChinese: chinese.Keys[v.Key]})
	}
	return all
}
