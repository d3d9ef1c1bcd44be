package shipper

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/audit"
	"github.com/keystile/keystile/storage/driver"
)

// hour is the form in which ids name an hour.
const hour = "2006-01-02T15"

// appendRecord writes the line of an audit record: what an export writes, with three fields before it.
func appendRecord(b []byte, r driver.Record) []byte {
	hash := audit.Hash(r)
	b = append(b, `{"stream":"audit","seq":`...)
	b = strconv.AppendUint(b, r.Seq, 10)
	b = append(b, `,"id":"`...)
	b = strconv.AppendUint(b, r.Seq, 10)
	b = append(append(append(b, '-'), hash[:16]...), `",`...)
	if !isObject(r.Data) {
		damaged, _ := json.Marshal(r.Data) // in base64
		return append(append(append(b, `"damaged":`...), damaged...), "}\n"...)
	}
	return append(append(b, r.Data[1:]...), '\n')
}

// isObject reports whether a record is an object on one line, without the fields that stand before it.
// Somebody who writes to the store can put anything there, and a line of theirs must not pass for another.
func isObject(data []byte) bool {
	if len(data) < 3 || data[0] != '{' || data[1] != '"' || bytes.IndexByte(data, '\n') >= 0 || !json.Valid(data) {
		return false
	}
	plain := bytes.IndexByte(data, '\\') < 0 // then a name is written as it is
	for _, name := range own {
		plain = plain && !bytes.Contains(data, []byte(`"`+name+`"`))
	}
	if plain {
		return true
	}
	in := json.NewDecoder(bytes.NewReader(data))
	in.Token()
	for in.More() {
		name, _ := in.Token()
		if name, is := name.(string); !is || slices.ContainsFunc(own,
			func(field string) bool { return strings.EqualFold(field, name) }) {
			return false
		}
		var value json.RawMessage
		if in.Decode(&value) != nil {
			return false
		}
	}
	return true
}

// own are the fields that stand before a record, or in place of it.
var own = []string{"stream", "seq", "id", "damaged"}

// gapLine says that records are not there any more.
type gapLine struct {
	Stream string `json:"stream"`
	ID     string `json:"id"`
	First  uint64 `json:"first"`
	Last   uint64 `json:"last"`
}

func appendGap(b []byte, first, last uint64) []byte {
	return appendLine(b, gapLine{"audit.gap", fmt.Sprintf("gap-%d-%d", first, last), first, last})
}

// usageLine is a row of usage.
type usageLine struct {
	Stream   string    `json:"stream"`
	ID       string    `json:"id"`
	Hour     time.Time `json:"hour"`
	Account  string    `json:"account"`
	ClientID string    `json:"client_id"`
	By       string    `json:"by"` // product or tool
	Name     string    `json:"name"`
	Calls    int64     `json:"calls"`
	Errors   int64     `json:"errors"`
}

// hourLine ends an hour.
type hourLine struct {
	Stream   string    `json:"stream"`
	ID       string    `json:"id"`
	Hour     time.Time `json:"hour"`
	Revision int       `json:"revision"`
	Rows     int       `json:"rows"`
	Calls    int64     `json:"calls"`    // of the whole service, when the rows were read
	Errors   int64     `json:"errors"`   // the same
	Accounts int64     `json:"accounts"` // the calls of the rows by product
}

func appendLine(b []byte, line any) []byte {
	text, err := json.Marshal(line)
	if err != nil {
		panic(err) // texts, numbers and times in the years 1 to 9999 marshal
	}
	return append(append(b, text...), '\n')
}
