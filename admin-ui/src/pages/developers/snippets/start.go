package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"
)

// CAUSEWAY_KEY holds an API key that may create and change records.
func main() {
	body := `{"first_name": "Ada", "last_name": "Lovelace", "email": "ada@example.com", "external_id": "form-1"}`
	request, _ := http.NewRequest("POST", "__BASE_URL__/integrations/leads", strings.NewReader(body))
	request.Header.Set("X-Api-Key", os.Getenv("CAUSEWAY_KEY"))
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	var answer struct {
		ClientID int    `json:"client_id"`
		Error    string `json:"error"`
	}
	json.NewDecoder(response.Body).Decode(&answer)
	if response.StatusCode >= 300 {
		log.Fatal(response.Status, ": ", answer.Error)
	}
	fmt.Println("Lead", answer.ClientID)
}
