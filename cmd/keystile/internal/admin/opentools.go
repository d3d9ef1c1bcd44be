package admin

import (
	"context"
	"encoding/json"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/cmd/keystile/internal/folder"
)

const openToolsCommand = "capability open"

var openToolsCommands = []command{{name: openToolsCommand, summary: "Name the tools that strangers may use",
	do: openTools, hidden: true}}

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
	f, err := folder.Find(data)
	if err != nil {
		return nil, err
	}
	socket, err := f.Socket()
	if err != nil {
		return nil, err
	}
	said, err := ask(ctx, socket, Request{Command: openToolsCommand}, 0)
	if err != nil {
		return nil, err
	}
	found := new(OpenTools)
	return found, json.Unmarshal([]byte(said), found)
}
