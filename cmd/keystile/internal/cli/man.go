//go:build manual

package cli

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"
)

// addManual adds the command that writes a manual page for each command below root. A release is made with it; the
// program itself is without what it links.
func addManual(root *cobra.Command, detail func(*cobra.Command)) {
	root.AddCommand(&cobra.Command{
		Use: "man DIR", Short: "Write manual pages, one for each command, into a directory",
		Example:               "  " + root.Name() + " man /usr/local/share/man/man1",
		DisableFlagsInUseLine: true,
		Args:                  cobra.ArbitraryArgs,
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
		RunE: func(c *cobra.Command, words []string) error {
			if len(words) != 1 {
				return Usage("man takes DIR; given: %q", words)
			}
			if err := os.MkdirAll(words[0], 0o755); err != nil {
				return err
			}
			root.DisableAutoGenTag = true
			nameValues(root, detail)
			if err := doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: root.Name()}, words[0]); err != nil {
				return err
			}
			_, err := fmt.Fprintf(c.OutOrStdout(), "written to %s; read one with: man -l %s/%s.1\n", words[0], words[0],
				root.Name())
			return err
		},
	})
}

// nameValues has manual pages hold all of the help, and say --data=DIR: they print the default behind a flag,
// and help has the defaults in its own words.
func nameValues(c *cobra.Command, detail func(*cobra.Command)) {
	detail(c)
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if v, ok := valueOf(f); ok {
			f.DefValue = v.flag.Value
		}
	})
	for _, sub := range c.Commands() {
		nameValues(sub, detail)
	}
}
