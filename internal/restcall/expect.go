package restcall

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/keystile/keystile/storage/toolplan"
)

// maxDeclared bounds the headers that a document declares of an operation's answers.
const maxDeclared = 16

// readAnswer takes what a document says of the answers of an operation.
func (p *Plan) readAnswer(call *toolplan.Call) error {
	accept, err := mediaTypes(call.Accept)
	if err != nil {
		return fmt.Errorf("what is accepted: %w", err)
	}
	p.accept = anything
	if len(accept) > 0 {
		p.accept = []string{acceptOf(accept)}
	}
	if len(call.Tells) > maxDeclared {
		return fmt.Errorf("it names more than %d headers of answers", maxDeclared)
	}
	for _, name := range call.Tells {
		if !MayTell(name) {
			return fmt.Errorf("the header %q of answers must not be shown", clip(name, 64))
		}
		p.tells = append(p.tells, http.CanonicalHeaderKey(name))
	}
	return nil
}

// acceptOf returns the header Accept of an operation with answers of these types: JSON of them, if there is any, before
// the others. Errors are often of another type, so everything else is accepted too.
func acceptOf(types []string) string {
	var first, others []string
	for _, media := range types {
		if isJSON(bareType(media)) {
			first = append(first, media)
		} else {
			others = append(others, media)
		}
	}
	if len(first) == 0 {
		return strings.Join(append(others, "application/json;q=0.9", "*/*;q=0.8"), ", ")
	}
	for _, media := range others {
		first = append(first, media+";q=0.9")
	}
	return strings.Join(append(first, "*/*;q=0.8"), ", ")
}
