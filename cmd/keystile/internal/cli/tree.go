package cli

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// tree makes cobra's commands of the table. Their arguments go to call, and the texts of cobra itself to out.
func (t Table) tree(call Call, out io.Writer) *cobra.Command {
	root := &cobra.Command{Use: t.Program, Short: t.Summary, SilenceErrors: true, SilenceUsage: true}
	root.SetIn(call.Stdin)
	root.SetOut(out)
	root.SetErr(call.Stderr)
	width := widthOf(call)
	root.Annotations = map[string]string{widthKey: strconv.Itoa(width)}
	root.SetUsageTemplate(usageTemplate(root))
	summaries, groups := map[string]string{}, map[string]string{}
	details := map[*cobra.Command]Command{}
	for _, g := range t.Groups {
		root.AddGroup(&cobra.Group{ID: g.Title, Title: g.Title})
		for _, topic := range g.Topics {
			summaries[topic.Name], groups[topic.Name] = topic.Summary, g.Title
		}
	}
	for _, c := range t.Commands {
		parent, names := root, strings.Fields(c.Name)
		for i, name := range names[:len(names)-1] {
			parent = topic(parent, name, summaries[strings.Join(names[:i+1], " ")])
		}
		made := c.cobra(call)
		details[made] = c
		parent.AddCommand(made)
	}
	// The long help is put together for the command that is asked for, and not for a hundred at each start.
	detail := func(c *cobra.Command) {
		if d, known := details[c]; known {
			c.Long = d.long(width)
		}
	}
	show := root.HelpFunc()
	root.SetHelpFunc(func(c *cobra.Command, words []string) {
		detail(c)
		show(c, words)
	})
	addManual(root, detail)
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return &UsageError{err} })
	for _, c := range root.Commands() {
		c.GroupID = groups[c.Name()]
		if c.Name() == "help" {
			c.RunE = helpCommand
		}
		for _, sub := range c.Commands() {
			sub.Args = wrongWords(sub.Args)
		}
	}
	return root
}

// wrongWords has words that cobra refuses be a wrong call.
func wrongWords(args cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, words []string) error {
		if args == nil || args(c, words) == nil {
			return nil
		}
		return &UsageError{args(c, words)}
	}
}

// topic returns the command that holds others below parent, made if it is not there yet.
func topic(parent *cobra.Command, name, summary string) *cobra.Command {
	for _, c := range parent.Commands() {
		if c.Name() == name {
			return c
		}
	}
	c := &cobra.Command{Use: name, Short: summary}
	parent.AddCommand(c)
	return c
}

func (c Command) cobra(call Call) *cobra.Command {
	args := Args{Flags: map[string][]string{}}
	names := strings.Fields(c.Name)
	made := &cobra.Command{
		Use:   strings.Join(append([]string{names[len(names)-1] + c.needed()}, c.Words...), " "),
		Short: c.Summary, Example: indent(c.Examples),
		ValidArgsFunction: c.completeWords,
		Args:              cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, words []string) error {
			if len(words) > 0 {
				args.Words = words
			}
			if err := c.Check(args); err != nil {
				return &UsageError{err}
			}
			call := call
			call.Args = args
			return c.Run(cmd.Context(), call)
		},
	}
	made.Flags().SortFlags = false
	for _, f := range c.Flags {
		added := made.Flags().VarPF(&value{f, args}, f.Name, "", f.about())
		if f.Value == "" {
			added.NoOptDefVal = "true"
		}
		if f.Value == "DIR" {
			made.MarkFlagDirname(f.Name)
		}
	}
	made.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return &UsageError{c.wrong(err)} })
	return made
}

// completeWords offers files where a command takes one, else nothing.
func (c Command) completeWords(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	for _, word := range c.Words {
		if word == "FILE" || word == "DIR" {
			return nil, cobra.ShellCompDirectiveDefault
		}
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}

// wrong says an error of pflag in our own words.
func (c Command) wrong(err error) error {
	var missing *pflag.NotExistError
	var empty *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &missing) && missing.GetSpecifiedShortnames() != "":
		return c.unknownFlag("-", missing.GetSpecifiedShortnames())
	case errors.As(err, &missing):
		return c.unknownFlag("--", missing.GetSpecifiedName())
	case errors.As(err, &empty):
		name := empty.GetFlag().Name
		return fmt.Errorf("--%s needs a value: --%s %s", name, name, empty.GetFlag().Value.Type())
	case errors.As(err, &invalid):
		return invalid.Unwrap()
	}
	return err
}

// value collects what a flag was given, for pflag.
type value struct {
	flag Flag
	into Args
}

func valueOf(f *pflag.Flag) (*value, bool) {
	if f == nil {
		return nil, false
	}
	v, ok := f.Value.(*value)
	return v, ok
}

func (v *value) String() string { return "" }

func (v *value) Type() string {
	if v.flag.Value == "" {
		return "bool"
	}
	return v.flag.Value
}

func (v *value) Set(text string) error {
	name := v.flag.Name
	if v.flag.Value == "" && text != "true" && text != "false" {
		return fmt.Errorf("--%s=%s: a switch is true or false", name, text)
	}
	v.into.Flags[name] = append(v.into.Flags[name], text)
	return nil
}
