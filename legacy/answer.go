package legacy

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/storage"
)

// succeed answers what an application asked: its success code, msg, and the members of v,
// which is a struct. An application that wants them nested finds them under data as well.
func succeed(w http.ResponseWriter, app storage.App, v any) error {
	var members bytes.Buffer
	enc := json.NewEncoder(&members)
	enc.SetEscapeHTML(false) // url goes into old pages as it stands
	if err := enc.Encode(v); err != nil {
		return err
	}
	object := bytes.TrimSpace(members.Bytes())
	body := append([]byte(`{"code":`+strconv.Itoa(app.SuccessCode())+`,"msg":"succ",`), object[1:len(object)-1]...)
	if app.LegacyNested {
		body = append(append(body, `,"data":`...), object...)
	}
	return reply.JSON(w, http.StatusOK, json.RawMessage(append(body, '}')))
}
