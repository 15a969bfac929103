int exported_work(void) { return 1; }
int run_for(void) { return 2; }
