package toolschema

import (
	"slices"
	"strings"
	"testing"
)

func TestLimitsListAndDropWhatNothingCouldSatisfy(t *testing.T) {
	for schema, want := range map[string]string{
		`{"type":"integer","minimum":5,"enum":[1,2]}`:           `{"enum":[1,2],"type":"integer"} /minimum`,
		`{"type":"integer","exclusiveMaximum":1,"const":1}`:     `{"const":1,"type":"integer"} /exclusiveMaximum`,
		`{"type":"string","minLength":5,"enum":["a","bé"]}`:     `{"enum":["a","bé"],"type":"string"} /minLength`,
		`{"type":"string","maxLength":1,"enum":["ab","cd"]}`:    `{"enum":["ab","cd"],"type":"string"} /maxLength`,
		`{"type":"string","pattern":"^x","enum":["a"]}`:         `{"enum":["a"],"type":"string"} /pattern`,
		`{"type":"string","enum":["a","b"],"const":"c"}`:        `{"const":"c","type":"string"} /enum`,
		`{"type":"string","enum":["a","b"],"default":"c"}`:      `{"enum":["a","b"],"type":"string"} /default`,
		`{"type":"integer","minimum":10,"maximum":1}`:           `{"type":"integer"} /maximum /minimum`,
		`{"type":"number","exclusiveMinimum":1,"maximum":1}`:    `{"type":"number"} /exclusiveMinimum /maximum`,
		`{"type":"string","minLength":3,"maxLength":1}`:         `{"type":"string"} /maxLength /minLength`,
		`{"type":"array","items":{},"minItems":3,"maxItems":1}`: `{"items":{},"type":"array"} /maxItems /minItems`,
		`{"type":"object","minProperties":3,"maxProperties":1}`: `{"type":"object"} /maxProperties /minProperties`,
		`{"type":"integer","minimum":2,"enum":[1,2],"default":2}`: `{"default":2,"enum":[1,2],"minimum":2,` +
			`"type":"integer"}`,
		`{"type":["integer","null"],"minimum":2,"enum":[3,null]}`: `{"enum":[3,null],"minimum":2,"type":["integer",` +
			`"null"]}`,
		`{"type":["string","null"],"minLength":2,"enum":["",null]}`: `{"enum":["",null],"type":["string",` +
			`"null"]} /minLength`,
		`{"type":"integer","minimum":1,"maximum":1}`: `{"maximum":1,"minimum":1,"type":"integer"}`,
	} {
		got, reported := shownOf(t, schema)
		slices.Sort(reported)
		for _, line := range reported {
			pointer, _, _ := strings.Cut(line, " ")
			got += " " + pointer
		}
		if got != want {
			t.Errorf("of %s is shown %s (%q), want %s", schema, got, reported, want)
		}
	}
}
