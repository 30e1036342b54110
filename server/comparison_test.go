package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// compared are the names of fields that hold a secret, or a hash of one, with which what a caller sent is compared.
var compared = []string{"StateHash", "Confirm", "Page", "Verifier", "Nonce", "Password", "AccessToken", "RefreshToken", "Secret", "Fingerprint"}

// TestSecretsAreComparedInConstantTime reads all of the plugin's code: whatever Reveal gives, and the fields that are
// compared with what a caller sent, stand in no comparison that ends at the first difference.
func TestSecretsAreComparedInConstantTime(t *testing.T) {
	files, found := 0, 0
	require.NoError(t, filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Name() == "filehosttest" {
			return fs.SkipDir // doubles
		}
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files++
		ast.Inspect(file, func(node ast.Node) bool {
			if isConstantTime(node) {
				found++
			}
			if secret := comparedSecret(node); secret != "" {
				assert.Fail(t, "a secret is compared byte by byte", "%s: %s", set.Position(node.Pos()), secret)
			}
			return true
		})
		return nil
	}))
	assert.Greater(t, files, 50)
	assert.GreaterOrEqual(t, found, 4, "state, page, confirm code, Secret.Equal")
}

func isConstantTime(node ast.Node) bool {
	call, ok := node.(*ast.CallExpr)
	return ok && calledName(call) == "ConstantTimeCompare"
}

// comparedSecret names the secret that an expression compares in a time that depends on it; "" = it compares none.
func comparedSecret(node ast.Node) string {
	var sides []ast.Expr
	switch node := node.(type) {
	case *ast.BinaryExpr:
		if node.Op != token.EQL && node.Op != token.NEQ {
			return ""
		}
		sides = []ast.Expr{node.X, node.Y}
	case *ast.SwitchStmt:
		sides = []ast.Expr{node.Tag}
	case *ast.CallExpr:
		if !slices.Contains([]string{"EqualFold", "Compare", "HasPrefix", "HasSuffix", "Contains"}, calledName(node)) && !equalsBytes(node) {
			return ""
		}
		sides = node.Args
	}
	if slices.ContainsFunc(sides, isNothing) {
		return "" // whether there is one
	}
	for _, side := range sides {
		if name := secretIn(side); name != "" {
			return name
		}
	}
	return ""
}

// isNothing tells the literals "" and nil.
func isNothing(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		return e.Value == `""`
	case *ast.Ident:
		return e.Name == "nil"
	}
	return false
}

func equalsBytes(call *ast.CallExpr) bool {
	selector, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || selector.Sel.Name != "Equal" {
		return false
	}
	of, ok := selector.X.(*ast.Ident)
	return ok && (of.Name == "bytes" || of.Name == "slices" || of.Name == "maps" || of.Name == "reflect")
}

func calledName(call *ast.CallExpr) string {
	switch called := call.Fun.(type) {
	case *ast.SelectorExpr:
		return called.Sel.Name
	case *ast.Ident:
		return called.Name
	}
	return ""
}

// secretIn names the secret that an expression is, through conversions, slices and brackets.
func secretIn(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.CallExpr:
		if calledName(e) == "Reveal" {
			return "Reveal()"
		}
		_, bytes := e.Fun.(*ast.ArrayType)
		if len(e.Args) == 1 && (bytes || calledName(e) == "string") {
			return secretIn(e.Args[0])
		}
	case *ast.SliceExpr:
		return secretIn(e.X)
	case *ast.ParenExpr:
		return secretIn(e.X)
	case *ast.SelectorExpr:
		if slices.Contains(compared, e.Sel.Name) {
			return e.Sel.Name
		}
	}
	return ""
}

// TestAComparisonOfASecretWouldBeSeen holds the reader of the test above to what it must see.
func TestAComparisonOfASecretWouldBeSeen(t *testing.T) {
	for text, want := range map[string]string{
		`a.Reveal() == b`: "Reveal()", `b != a.Reveal()`: "Reveal()", `bytes.Equal(x, begun.StateHash)`: "StateHash",
		`held.Confirm == code`: "Confirm", `strings.EqualFold(typed, held.Page)`: "Page", `strings.HasPrefix(a.Reveal(), b)`: "Reveal()",
		`string(begun.StateHash) != x`: "StateHash", `bytes.Equal([]byte(a.Reveal()), b[:])`: "Reveal()", `(held.Page)[:4] == x`: "Page",
		`a.Reveal() == ""`: "", `held.Page != nil`: "", `subtle.ConstantTimeCompare(x, begun.StateHash) != 1`: "", `a.Equal(b)`: "", `a < b`: "",
	} {
		expression, err := parser.ParseExpr(text)
		require.NoError(t, err)
		assert.Equal(t, want, comparedSecret(expression), text)
	}
}
