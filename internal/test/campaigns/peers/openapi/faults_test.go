package openapi

import "slices"

// Known misreadings of the validators, each said in one place and pointed at by the rows.
const (
	listsInPaths  = "Prism's templates split a value at its commas, and its styles then look for a text"
	repeated      = "Prism keeps the last of the fields or parts of one name"
	jsonParts     = "Prism takes every part of a multipart for a text, whatever its Content-Type"
	commasInForms = "Prism takes the commas between elements for reserved characters of a value"
	blanks        = "Prism looks for %20 between elements after it has decoded it"
	dots          = "Prism finds no placeholder whose name is not letters, digits and _"
	absent        = "Prism takes an object that is spread over the query, and not given, for an empty one"
	untyped       = "kin-openapi reads nothing out of a field of a form of which no type is said"
	usualLists    = "kin-openapi reads lists of OpenAPI 2.0 of which nothing is said as multi; they are csv"
)

// ownFaults lists the validators' faults about the project's own documents.
var ownFaults = []fault{
	{"Prism", "styles", "simple", "value.split is not a function", listsInPaths},
	{"Prism", "styles", "label", "startsWith is not a function", listsInPaths},
	{"Prism", "styles", "matrix", "startsWith is not a function", listsInPaths},
	{"Prism", "styles", "spaces", "query.spaces", blanks},
	{"Prism", "forms", "formApart", "body.ids: Request body property ids must be array", repeated},
	{"Prism", "forms", "formApart", "body.tags: Request body property tags must NOT have fewer than 2 items", repeated},
	{"Prism", "forms", "formCommas", "body.commas: Reserved characters", commasInForms},
	{"Prism", "forms", "multipart", "body.box: Request body property box must be object", jsonParts},
	{"Prism", "forms", "multipart", "body.loose: Request body property loose must be object", jsonParts},
	{"Prism", "forms", "multipart", "body.notes: Request body property notes must be array", repeated},
	{"Prism", "swagger", "listInThePath", "value.split is not a function", listsInPaths},
	{"Prism", "swagger", "spaces", "query.spaces", blanks},
	{"Prism", "swagger", "formLists", "body.usual: Request body property usual must be array",
		"Prism does not read collectionFormat in forms"},
	{"Prism", "swagger", "formLists", "body.multi: Request body property multi must NOT have fewer than 2 items",
		repeated},
	{"kin-openapi", "swagger", "usual", `parameter "usual" in query`, usualLists},
	{"kin-openapi", "swagger", "formLists", "usual: value", usualLists},
}

// blind says where Prism objects to nothing, whatever is sent, by document and tool.
var blind = map[string]string{
	"styles jsonInTheQuery": "Prism does not read parameters with content",
	"swagger upload":        "Prism's validator does not compile a schema of type file, and then nothing is judged",
}

// corpusFaults are those about documents of the corpus.
var corpusFaults = slices.Concat([]fault{
	{"Prism", "9fd4cdaab0dd", "get_path_params_simple_primitive_simple__9dcdb629", "no path matched", dots},
	{"Prism", "9fd4cdaab0dd", "get_query_params",
		"query.object: Request query parameter object must have required property", absent},
	{"Prism", "455ee50f7c69", "ABitOfEverythingService_GetRepeatedQuery", "value.split is not a function", listsInPaths},
}, rows("kin-openapi", "0360fe39df8d", `Error at "/Data"`, untyped,
	"CreateSyncListItem", "CreateSyncMapItem", "CreateStreamMessage",
), rows("Prism", "455ee50f7c69", "no path matched", dots,
	"ABitOfEverythingService_CheckGetQueryParams",
	"ABitOfEverythingService_CheckNestedEnumG_d0b3ec48",
	"ABitOfEverythingService_DeepPathEcho",
	"ABitOfEverythingService_UpdateBook",
	"ABitOfEverythingService_UpdateEntity",
	"ABitOfEverythingService_UpdateV2",
	"ABitOfEverythingService_UpdateV2_1",
	"ABitOfEverythingService_UpdateV2_2",
))

func rows(validator, document, text, why string, tools ...string) (out []fault) {
	for _, tool := range tools {
		out = append(out, fault{validator, document, tool, text, why})
	}
	return out
}
