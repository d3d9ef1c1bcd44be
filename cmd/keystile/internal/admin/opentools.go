package admin

import (
	"context"
	"encoding/json"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/cmd/keystile/internal/folder"
)

const openToolsCommand = "capability open"

const addressCommand = "service address"

var openToolsCommands = []command{
	{name: openToolsCommand, summary: "Name the tools that strangers may use", do: openTools, hidden: true},
	{name: addressCommand, summary: "Say where the service listens", hidden: true,
		do: func(_ context.Context, target Target, _ cli.Args) (output, error) {
			return servedAt{target.Address}, nil
		}},
}

// servedAt says where a service listens.
type servedAt struct {
	Address string `json:"address"`
}

func (a servedAt) text(bool) (string, error) { return line(a) }

// AskAddress asks the server that serves from a data folder where it listens. Where none answers, or one of another
// version, it returns the error.
func AskAddress(ctx context.Context, data string) (string, error) {
	var at servedAt
	err := askHidden(ctx, data, addressCommand, &at)
	return at.Address, err
}

// OpenTools are the tools that strangers may use because no access list says otherwise.
type OpenTools struct {
	Tools []string `json:"open_tools"` // the first by name; none: there are none
	Count int      `json:"open_tools_count"`
	By    []string `json:"open_ways"` // the ways in by which strangers become users
}

// maxOpenTools bounds how many of them are named.
const maxOpenTools = 20

func openTools(ctx context.Context, target Target, _ cli.Args) (output, error) {
	ways, _, err := target.ways()
	found := OpenTools{Tools: []string{}, By: append([]string{}, ways.Open()...)}
	if len(found.By) == 0 && err == nil {
		var maybe bool
		if maybe, err = target.Store.MayHaveStrangers(ctx); maybe {
			found.By = append(found.By, "earlier")
		}
	}
	if len(found.By) > 0 && target.Unlisted != nil {
		names, n := target.Unlisted(maxOpenTools)
		found.Tools, found.Count = append(found.Tools, names...), n
	}
	return found, err
}

func (o OpenTools) text(bool) (string, error) { return line(o) }

// AskOpenTools asks the server that serves from a data folder. Where none answers, or one of another version, it
// returns the error.
func AskOpenTools(ctx context.Context, data string) (*OpenTools, error) {
	found := new(OpenTools)
	if err := askHidden(ctx, data, openToolsCommand, found); err != nil {
		return nil, err
	}
	return found, nil
}

// askHidden has the server that serves from a data folder run a command that answers in JSON.
func askHidden(ctx context.Context, data, command string, into any) error {
	f, err := folder.Find(data)
	if err != nil {
		return err
	}
	socket, err := f.Socket()
	if err != nil {
		return err
	}
	said, err := ask(ctx, socket, Request{Command: command}, 0)
	if err != nil {
		return err
	}
	return json.Unmarshal([]byte(said), into)
}
