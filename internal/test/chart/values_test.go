package chart

import (
	"strings"
	"testing"
)

// Values that cannot work are refused before anything is installed, with what to do.
func TestValuesThatCannotWorkAreRefused(t *testing.T) {
	for name, c := range map[string]struct{ values, says string }{
		"nothing":                    {``, "baseURL"},
		"no secret":                  {`baseURL: https://id.example.com`, "existingSecret"},
		"an origin with a path":      {"baseURL: https://id.example.com/sso\nexistingSecret: k", "baseURL"},
		"an unknown value":           {oneNode + "replicaCount: 3", "replicaCount"},
		"an unknown value inside":    {oneNode + "image: {tagg: v1}", "tagg"},
		"no node":                    {oneNode + "replicas: 0", "replicas"},
		"nodes as a text":            {oneNode + `replicas: "2"`, "replicas"},
		"several nodes on a file":    {oneNode + "replicas: 2", "several nodes need one database: set postgres.url"},
		"a database that is none":    {oneNode + `postgres: {url: "mysql://db"}`, "postgres"},
		"a password of the database": {oneNode + `postgres: {url: "postgres://keystile:sesame@db/keystile"}`, "as PGPASSWORD"},
		"a password of Redis":        {oneNode + `redis: {url: "redis://:sesame@redis:6379"}`, "as KEYSTILE_REDIS_URL"},
		"an ingress with no proxies": {oneNode + "ingress: {enabled: true}", "trustedProxies: name the network"},
		"a key that the chart sets": {oneNode + "config: {base_url: https://other.example}",
			"config.base_url: the chart sets it"},
		"another admin listener":           {oneNode + `config: {admin: {listen: "127.0.0.1:1"}}`, "config.admin.listen"},
		"no time to drain":                 {oneNode + "drainSeconds: 0", "drainSeconds"},
		"a volume without a unit":          {oneNode + `persistence: {size: "10"}`, "persistence"},
		"a digest that is none":            {oneNode + "image: {digest: latest}", "digest"},
		"an annotation that is no text":    {oneNode + "podAnnotations: {a: 1}", "podAnnotations"},
		"a document of no kind":            {oneNode + "apply: {documents: [{kind: team, name: a}]}", "kind"},
		"a document without a name":        {oneNode + "apply: {documents: [{kind: group}]}", "name"},
		"documents as a text":              {oneNode + "apply: {documents: 'kind: group'}", "documents"},
		"a file in place of the documents": {oneNode + "apply: {files: {documents.json: '[]'}}", "documents.json"},
		"a secret in a document": {oneNode + "apply: {existingSecret: a, documents: [{kind: capability, name: a, " +
			"auth_secret: sesame}]}", "auth_secret of capability a would stand in a ConfigMap: write {env: NAME}"},
		"a secret in a file": {oneNode + "apply: {existingSecret: a, documents: [{kind: capability, name: a, " +
			"webhook_secret: {file: a}}]}", "webhook_secret of capability a would stand in a ConfigMap"},
		"a secret in a header": {oneNode + "apply: {existingSecret: a, documents: [{kind: capability, name: a, " +
			"headers: {X-Key: sesame}}]}", "headers.X-Key of capability a would stand in a ConfigMap"},
		"a secret of nowhere": {oneNode + "apply: {documents: [{kind: capability, name: a, headers: {X-Key: {env: A}}}]}",
			"apply.existingSecret: name the Secret that has headers.X-Key of capability a"},
	} {
		_, err := render(t, c.values)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want it refused by %q", name, err, c.says)
		}
		if err != nil && strings.Contains(err.Error(), "sesame") {
			t.Errorf("%s: the password is in %v", name, err)
		}
	}
}
