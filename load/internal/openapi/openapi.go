// Package openapi makes requests from the examples of a description in OpenAPI 3.
package openapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
)

// A Request is the request of an operation.
type Request struct {
	Name        string // "GET /pets/{id}"
	Method, URL string // without an origin if the description has none
	Header      []Field
	Body        string
	Err         error // why the request cannot be sent, or nil
}

// A Field is a field of a header.
type Field struct{ Name, Value string }

// begins finds the key of a description in YAML, and that of its predecessor.
var begins = regexp.MustCompile(`(?m)^["']?(openapi|swagger)["']?:[ \t]+\S`)

// IsYAML reports whether a text seems to be a description in YAML.
func IsYAML(text []byte) bool { return begins.Match(text) }

// IsJSON reports whether a text is a description in JSON.
func IsJSON(text []byte) bool {
	var d struct{ OpenAPI, Swagger string }
	return json.Unmarshal(text, &d) == nil && d.OpenAPI+d.Swagger != ""
}

// methods are the keys of operations, in the order of their requests.
var methods = []string{"get", "head", "options", "put", "post", "patch", "delete"}

// Read returns a request for each operation, in the order of the paths.
func Read(text []byte) ([]Request, error) {
	root, err := decode(text)
	if err != nil {
		return nil, err
	}
	d := &description{root: root}
	if version := fmt.Sprint(root["openapi"]); !strings.HasPrefix(version, "3.") {
		return nil, errors.New("this is no description in OpenAPI 3; convert it, for example with swagger2openapi")
	}
	base, err := d.server()
	if err != nil {
		return nil, err
	}
	var all []Request
	paths := d.object(root["paths"])
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		item := d.object(paths[path])
		for _, method := range methods {
			operation := d.object(item[method])
			if operation == nil {
				continue
			}
			r := Request{Method: strings.ToUpper(method), URL: base + path}
			r.Name = r.Method + " " + path
			r.Err = d.fill(&r, slices.Concat(d.list(item["parameters"]), d.list(operation["parameters"])),
				d.object(operation["requestBody"]))
			all = append(all, r)
		}
	}
	return all, nil
}

func decode(text []byte) (root map[string]any, err error) {
	if trimmed := bytes.TrimLeft(text, " \t\r\n"); len(trimmed) > 0 && trimmed[0] == '{' {
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		return root, d.Decode(&root)
	}
	return root, yaml.Unmarshal(text, &root)
}

// A description is the document. Its methods follow references.
type description struct{ root map[string]any }

// object returns the mapping v or refers to, or nil.
func (d *description) object(v any) map[string]any {
	const deepest = 20 // of references to references
	for range deepest {
		m, _ := v.(map[string]any)
		ref, ok := m["$ref"].(string)
		if !ok {
			return m
		}
		path, ok := strings.CutPrefix(ref, "#/")
		if !ok {
			return nil
		}
		v = any(d.root)
		for name := range strings.SplitSeq(path, "/") {
			at, _ := v.(map[string]any)
			v = at[strings.NewReplacer("~1", "/", "~0", "~").Replace(name)]
		}
	}
	return nil
}

func (d *description) list(v any) (all []map[string]any) {
	elements, _ := v.([]any)
	for _, e := range elements {
		all = append(all, d.object(e))
	}
	return all
}

var serverVariable = regexp.MustCompile(`\{([^}]*)\}`)

// server returns the URL of the first server without a slash at its end; it may be a path.
func (d *description) server() (string, error) {
	servers := d.list(d.root["servers"])
	if len(servers) == 0 {
		return "", nil
	}
	variables := d.object(servers[0]["variables"])
	missing := ""
	base := serverVariable.ReplaceAllStringFunc(text(servers[0]["url"]), func(name string) string {
		value := d.object(variables[name[1:len(name)-1]])["default"]
		if value == nil {
			missing = name
		}
		return text(value)
	})
	if missing != "" {
		return "", fmt.Errorf("the variable %s of the first server has no default", missing)
	}
	return strings.TrimSuffix(base, "/"), nil
}

// fill sets the parameters and the body. A later parameter replaces an earlier one of the same name.
func (d *description) fill(r *Request, parameters []map[string]any, body map[string]any) error {
	var query, cookies []string
	for i, p := range parameters {
		name, in := text(p["name"]), text(p["in"])
		again := func(o map[string]any) bool { return text(o["name"]) == name && text(o["in"]) == in }
		if slices.ContainsFunc(parameters[i+1:], again) {
			continue
		}
		values, err := d.parameter(p)
		switch {
		case err != nil && (p["required"] == true || in == "path"):
			return err
		case err != nil:
			continue
		}
		switch in {
		case "path":
			r.URL = strings.ReplaceAll(r.URL, "{"+name+"}", url.PathEscape(strings.Join(values, ",")))
		case "query":
			if p["explode"] == false {
				values = []string{strings.Join(values, ",")}
			}
			for _, v := range values {
				query = append(query, url.QueryEscape(name)+"="+url.QueryEscape(v))
			}
		case "header":
			r.Header = append(r.Header, Field{name, strings.Join(values, ",")})
		case "cookie":
			cookies = append(cookies, name+"="+strings.Join(values, ","))
		}
	}
	if open := serverVariable.FindString(r.URL); open != "" {
		return fmt.Errorf("the path has %s, and the operation no such parameter", open)
	}
	if len(query) > 0 {
		r.URL += "?" + strings.Join(query, "&")
	}
	if len(cookies) > 0 {
		r.Header = append(r.Header, Field{"Cookie", strings.Join(cookies, "; ")})
	}
	return d.setBody(r, body)
}

// parameter returns the values of a parameter's example.
func (d *description) parameter(p map[string]any) ([]string, error) {
	v, ok := d.example(p, 0)
	for _, content := range d.object(p["content"]) {
		v, ok = d.example(d.object(content), 0)
	}
	if !ok {
		return nil, fmt.Errorf("the %v parameter %v has no example", p["in"], p["name"])
	}
	all, isList := v.([]any)
	if !isList {
		all = []any{v}
	}
	var values []string
	for _, one := range all {
		if _, isObject := one.(map[string]any); isObject {
			return nil, fmt.Errorf("the example of the parameter %v is an object", p["name"])
		}
		values = append(values, text(one))
	}
	return values, nil
}

// setBody sets the body to the example of the first type that has one; JSON comes before others.
func (d *description) setBody(r *Request, body map[string]any) error {
	content := d.object(body["content"])
	kinds := slices.Sorted(maps.Keys(content))
	isJSON := func(kind string) bool { return strings.Contains(kind, "json") }
	kinds = slices.Concat(slices.DeleteFunc(slices.Clone(kinds), func(k string) bool { return !isJSON(k) }),
		slices.DeleteFunc(kinds, isJSON))
	for _, kind := range kinds {
		v, ok := d.example(d.object(content[kind]), 0)
		if !ok {
			continue
		}
		written, err := write(kind, v)
		if err != nil {
			continue
		}
		r.Body, r.Header = written, append(r.Header, Field{"Content-Type", kind})
		return nil
	}
	if body["required"] == true || len(kinds) > 0 && r.Method != "DELETE" {
		return errors.New("its body has no example")
	}
	return nil
}

// write writes an example in the notation of a type.
func write(kind string, v any) (string, error) {
	object, isObject := v.(map[string]any)
	s, isText := v.(string)
	switch {
	case strings.Contains(kind, "json"):
		out, err := json.Marshal(v)
		return string(out), err
	case kind == "application/x-www-form-urlencoded" && isObject:
		form := url.Values{}
		for name, value := range object {
			form.Set(name, text(value))
		}
		return form.Encode(), nil
	case isText:
		return s, nil
	}
	return "", errors.New("the example is not of this type")
}

// example returns the example of a parameter, a media type or a schema. A schema without one has its default or the first
// of its allowed values, and an object those of its properties.
func (d *description) example(of map[string]any, depth int) (any, bool) {
	const deepest = 20 // of schemas that contain themselves
	if of == nil || depth > deepest {
		return nil, false
	}
	if v, ok := of["example"]; ok {
		return v, true
	}
	if named := d.object(of["examples"]); len(named) > 0 {
		first := slices.Sorted(maps.Keys(named))[0]
		if v, ok := d.object(named[first])["value"]; ok {
			return v, true
		}
	}
	for _, key := range []string{"examples", "default", "const", "enum"} {
		v, ok := of[key]
		if all, isList := v.([]any); isList && key != "default" && key != "const" {
			if ok = len(all) > 0; ok {
				v = all[0]
			}
		}
		if _, isObject := v.(map[string]any); ok && !(isObject && key == "examples") {
			return v, true
		}
	}
	if schema := d.object(of["schema"]); schema != nil {
		return d.example(schema, depth+1)
	}
	for _, key := range []string{"oneOf", "anyOf"} {
		for _, one := range d.list(of[key]) {
			if v, ok := d.example(one, depth+1); ok {
				return v, true
			}
		}
	}
	if items, ok := of["items"]; ok {
		v, ok := d.example(d.object(items), depth+1)
		return []any{v}, ok
	}
	return d.exampleObject(of, depth)
}

// exampleObject returns an object from the examples of properties. Each required one has to have one.
func (d *description) exampleObject(of map[string]any, depth int) (any, bool) {
	out := map[string]any{}
	for _, part := range d.list(of["allOf"]) {
		v, _ := d.example(part, depth+1)
		object, _ := v.(map[string]any)
		maps.Copy(out, object)
	}
	properties := d.object(of["properties"])
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		property := d.object(properties[name])
		if v, ok := d.example(property, depth+1); ok && property["readOnly"] != true {
			out[name] = v
		}
	}
	required, _ := of["required"].([]any)
	for _, name := range required {
		readOnly := d.object(properties[text(name)])["readOnly"] == true
		if _, ok := out[text(name)]; !ok && !readOnly {
			return nil, false
		}
	}
	return out, len(out) > 0
}

// text writes a scalar.
func text(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}
