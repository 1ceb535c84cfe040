package target_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirhq/weir/load/target"
)

const collection = `{
  "info": {"name": "shop", "schema": "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"},
  "variable": [{"key": "host", "value": "http://shop.example"}, {"key": "api", "value": "{{host}}/api"}, {"key": "n", "value": 7}],
  "auth": {"type": "bearer", "bearer": [{"key": "token", "value": "t-{{n}}", "type": "string"}]},
  "item": [
    {"name": "short", "request": "{{api}}/items?q=a b"},
    {"name": "orders", "auth": {"type": "basic", "basic": [{"key": "username", "value": "me"}, {"key": "password", "value": "pw"}]}, "item": [
      {"name": "create", "event": [{"listen": "test", "script": {"exec": ["pm.test()"]}}], "request": {"method": "POST",
        "header": [{"key": "X-Trace", "value": "{{$guid}}"}, {"key": "X-Off", "value": "{{missing}}", "disabled": true}],
        "body": {"mode": "raw", "raw": "{\"n\": {{n}}, \"id\": {{$randomInt}}}", "options": {"raw": {"language": "json"}}},
        "url": {"raw": "{{api}}/orders/:id/lines?x={{n}}", "variable": [{"key": "id", "value": "{{n}}"}]}}},
      {"name": "form", "request": {"method": "PUT", "auth": {"type": "noauth"}, "url": "{{host}}/form",
        "body": {"mode": "urlencoded", "urlencoded": [{"key": "a b", "value": "ä&"}, {"key": "n", "value": "{{n}}"},
          {"key": "sum", "value": "{{n}}+1&2"}, {"key": "id", "value": "{{$guid}} {{"}]}}}
    ]},
    {"name": "query", "request": {"method": "POST", "url": "{{host}}/graphql", "auth": {"type": "apikey", "apikey": [
      {"key": "in", "value": "query"}, {"key": "key", "value": "k"}, {"key": "value", "value": "v"}]},
      "body": {"mode": "graphql", "graphql": {"query": "{ items }", "variables": "{\"n\": 1}"}}}},
    {"name": "unknown", "request": {"method": "GET", "url": "{{host}}/{{missing}}"}},
    {"name": "upload", "request": {"method": "POST", "url": "{{host}}/upload", "body": {"mode": "formdata", "formdata": [{"key": "f", "type": "file", "src": "a.png"}]}}},
    {"name": "signed", "request": {"method": "GET", "url": "{{host}}/", "auth": {"type": "awsv4"}}}
  ]}`

func TestCollectionsOfPostmanAreRead(t *testing.T) {
	list, err := target.Read(strings.NewReader(collection), "shop.json", nil)
	if err != nil {
		t.Fatal(err)
	}
	basic := target.Header{Name: "Authorization", Value: "Basic bWU6cHc="}
	want := []target.Target{
		{Method: "GET", URL: "http://shop.example/api/items?q=a%20b", Header: []target.Header{{Name: "Authorization", Value: "Bearer t-7"}}},
		{Method: "POST", URL: "http://shop.example/api/orders/7/lines?x=7", Header: []target.Header{{Name: "X-Trace", Value: "{{uuid}}"},
			{Name: "Content-Type", Value: "application/json"}, basic}, Body: target.Body{Text: `{"n": 7, "id": {{rand 0 1000}}}`}},
		{Method: "PUT", URL: "http://shop.example/form", Header: []target.Header{{Name: "Content-Type",
			Value: "application/x-www-form-urlencoded"}}, Body: target.Body{Text: "a+b=%C3%A4%26&n=7&sum=7%2B1%262&id={{uuid}}+%7B%7B"}},
		{Method: "POST", URL: "http://shop.example/graphql?k=v", Header: []target.Header{{Name: "Content-Type", Value: "application/json"}},
			Body: target.Body{Text: `{"query":"{ items }","variables":{"n":1}}`}},
	}
	if diff := cmp.Diff(want, list.Targets); diff != "" {
		t.Errorf("want - got +\n%s", diff)
	}
	skipped := []string{
		"shop.json: unknown: the variable missing has no value in the collection; add it there",
		`shop.json: upload: the file of its form, "f", is not in the collection`,
		"shop.json: signed: its authorization is of the type awsv4; give the field with -H",
	}
	if diff := cmp.Diff(skipped, list.Skipped); diff != "" || list.NoServer || list.Described {
		t.Errorf("skipped: want - got +\n%s%+v", diff, list)
	}
}

// TestCollectionsMayNameNoServer reads a collection whose server is in an environment.
func TestCollectionsMayNameNoServer(t *testing.T) {
	for text, want := range map[string]string{
		`{"info": {"schema": "https://schema.getpostman.com/json/collection/v2.0.0/collection.json"}, "item": [{"name": "a",
			"request": {"url": "{{baseUrl}}/a", "method": "GET", "auth": {"type": "basic", "basic": {"username": "a", "password": "b"}}}}]}`: "http://127.0.0.1/a",
	} {
		list, err := target.Read(strings.NewReader(text), "t", nil)
		if err != nil || !list.NoServer || len(list.Targets) != 1 || list.Targets[0].URL != want ||
			list.Targets[0].Header[0].Value != "Basic YTpi" {
			t.Errorf("%+v, %v", list, err)
		}
	}
}

const described = `# the shop
openapi: 3.1.0
info: {title: shop, version: "1"}
servers: [{url: "https://{region}.shop.example/v1/", variables: {region: {default: eu}}}]
paths:
  /items/{id}:
    parameters: [{$ref: '#/components/parameters/id'}, {name: lang, in: header, schema: {type: string, default: en}}]
    get:
      parameters:
        - {name: tags, in: query, example: [a b, c]}
        - {name: page, in: query, schema: {type: integer}}
        - {name: sort, in: query, explode: false, schema: {type: array, items: {enum: [price, name]}}}
        - {name: session, in: cookie, examples: {one: {value: s1}}}
    delete: {parameters: [{name: id, in: path, required: true, example: 9}]}
  /items:
    post:
      requestBody: {required: true, content: {application/json: {schema: {$ref: '#/components/schemas/item'}}}}
    get: {parameters: [{name: since, in: query, required: true, schema: {type: string}}]}
components:
  parameters: {id: {name: id, in: path, required: true, schema: {type: integer, examples: [4, 5]}}}
  schemas:
    item:
      required: [id, name, parent]
      properties:
        id: {type: integer, readOnly: true}
        name: {type: string, example: "{{tea}}"}
        price: {type: number, default: 2.5}
        parent: {allOf: [{$ref: '#/components/schemas/named'}]}
    named: {properties: {name: {const: food}}}
`

func TestDescriptionsInOpenAPIAreRead(t *testing.T) {
	list, err := target.Read(strings.NewReader(described), "openapi.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	lang := target.Header{Name: "lang", Value: "en"}
	want := []target.Target{
		{Method: "POST", URL: "https://eu.shop.example/v1/items", Header: []target.Header{{Name: "Content-Type", Value: "application/json"}},
			Body: target.Body{Text: `{"name":"{{"{{"}}tea}}","parent":{"name":"food"},"price":2.5}`}},
		{Method: "GET", URL: "https://eu.shop.example/v1/items/4?tags=a+b&tags=c&sort=price", Header: []target.Header{lang,
			{Name: "Cookie", Value: "session=s1"}}},
		{Method: "DELETE", URL: "https://eu.shop.example/v1/items/9", Header: []target.Header{lang}},
	}
	if diff := cmp.Diff(want, list.Targets); diff != "" {
		t.Errorf("want - got +\n%s", diff)
	}
	skipped := []string{"openapi.yaml: GET /items: the query parameter since has no example"}
	if diff := cmp.Diff(skipped, list.Skipped); diff != "" || !list.Described || list.NoServer {
		t.Errorf("skipped: want - got +\n%s%+v", diff, list)
	}
	list, err = target.Read(strings.NewReader(`{"openapi": "3.0.3", "paths": {"/a": {"get": {}}}}`), "t", nil)
	if err != nil || !list.NoServer || list.Targets[0].URL != "http://127.0.0.1/a" {
		t.Errorf("without a server: %+v, %v", list, err)
	}
}

func TestMistakesInDescriptionsAreNamed(t *testing.T) {
	for text, want := range map[string]string{
		"swagger: \"2.0\"\npaths: {}\n":                                     "t: this is no description in OpenAPI 3; convert it",
		"openapi: 3.0.0\npaths:\n  - [\n":                                   "t: ",
		"openapi: 3.0.0\npaths: {}\n":                                       "t has no targets",
		"openapi: 3.0.0\nservers: [{url: 'http://{x}/'}]\npaths: {}\n":      "t: the variable {x} of the first server has no default",
		"openapi: 3.0.0\npaths: {'/{a}': {get: {}}}\n":                      "none of the 1 operations of the description can be sent; t: GET /{a}: the path has {a}",
		"openapi: 3.0.0\npaths: {/a: {$ref: '#/paths/~1a'}}\n":              "t has no targets",
		variables("{{b}}{{b}}", "x{{a}}"):                                   "none of the 1 requests of the collection can be sent; t: r: the variable a has itself as a value",
		variables("{{b}}{{b}}", strings.Repeat("0", 1<<19)):                 "none of the 1 requests of the collection can be sent; t: r: a text of it is longer than 1 MiB",
		`{"info": {"schema": "https://x/collection/v1.0.0/"}, "item": []}`:  "t: the collection has the format https://x/collection/v1.0.0/; export it",
		`{"info": {"schema": "https://x/collection/v2.1.0/"}, "item": []}`:  "t has no targets",
		`{"info": {"schema": "https://x/collection/v2.1.0/"}, "item": [7]}`: "t: ",
	} {
		_, err := target.Read(strings.NewReader(text), "t", nil)
		if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

// variables is a collection with the values of two variables.
func variables(a, b string) string {
	return `{"info": {"schema": "https://x/collection/v2.1.0/"}, "variable": [{"key": "a", "value": "` + a + `"},
		{"key": "b", "value": "` + b + `"}], "item": [{"name": "r", "request": "http://a.example/{{a}}{{a}}"}]}`
}

// FuzzDescribed reads files that begin as a collection or a description: no panic, and each target is well-formed.
func FuzzDescribed(f *testing.F) {
	f.Add(collection)
	f.Add(described)
	f.Fuzz(func(t *testing.T, text string) {
		list, err := target.Read(strings.NewReader(text), "t", func(string) (string, error) { return "", strings.NewReader("").UnreadByte() })
		if err == nil && len(list.Targets) == 0 {
			t.Errorf("%q: neither targets nor an error", text)
		}
	})
}
