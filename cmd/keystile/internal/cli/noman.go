//go:build !manual

package cli

import "github.com/spf13/cobra"

// addManual adds nothing: manual pages are written where a release is made, by the build with the tag manual.
func addManual(*cobra.Command, func(*cobra.Command)) {}
