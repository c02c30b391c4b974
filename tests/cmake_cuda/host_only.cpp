int run_call_twice(int* values, int count);

int main() {
  int values[] = {5, 6};
  return run_call_twice(values, 2) == 2 && values[0] == 11 && values[1] == 13 ? 0 : 1;
}
