// A plugin for QEMU that counts the instructions of a program, which must use one thread at a time.
#include <stdint.h>
#include <stdio.h>

// The part of the plugin interface of QEMU 7.2 that is used here.
typedef uint64_t plugin_id;
typedef void (*translated)(plugin_id, void *block);
size_t qemu_plugin_tb_n_insns(const void *block);
void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id, translated);
void qemu_plugin_register_vcpu_tb_exec_inline(void *block, int operation, void *to, uint64_t by);
void qemu_plugin_register_atexit_cb(plugin_id, void (*)(plugin_id, void *), void *);

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

static uint64_t count;

static void count_block(plugin_id id, void *block) {
	qemu_plugin_register_vcpu_tb_exec_inline(block, 0 /* add */, &count, qemu_plugin_tb_n_insns(block));
}

static void print(plugin_id id, void *unused) {
	fprintf(stderr, "instructions: %llu\n", (unsigned long long)count);
}

__attribute__((visibility("default"))) int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv) {
	qemu_plugin_register_vcpu_tb_trans_cb(id, count_block);
	qemu_plugin_register_atexit_cb(id, print, NULL);
	return 0;
}
