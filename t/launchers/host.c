// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * host.c - a program that creates a JVM itself: linked with libjvm (-DLINKED), or loads the one
 * that its argument names. It prints the property java.vm.version, whether it got one option only,
 * and how it all ended.
 */
#include <dlfcn.h>
#include <jni.h>
#include <stdio.h>

typedef jint create_fn(JavaVM **vm, void **env, void *args);

static create_fn *find_create(const char *libjvm)
{
#ifdef LINKED
	return JNI_CreateJavaVM;
#else
	void *lib = dlopen(libjvm, RTLD_NOW);

	return lib ? (create_fn *)dlsym(lib, "JNI_CreateJavaVM") : NULL;
#endif
}

int main(int argc, char **argv)
{
	JavaVMOption option = { .optionString = "-Dhost=yes" };
	JavaVMInitArgs args = { .version = JNI_VERSION_1_6, .nOptions = 1, .options = &option };
	create_fn *create = find_create(argv[1]);
	jmethodID get;
	jclass system;
	jstring value;
	JavaVM *vm;
	JNIEnv *env;

	if (!create || create(&vm, (void **)&env, &args))
		return 1;
	system = (*env)->FindClass(env, "java/lang/System");
	get = (*env)->GetStaticMethodID(env, system, "getProperty", "(Ljava/lang/String;)Ljava/lang/String;");
	value = (*env)->CallStaticObjectMethod(env, system, get,
					       (*env)->NewStringUTF(env, "java.vm.version"));
	puts((*env)->GetStringUTFChars(env, value, NULL));
	value = (*env)->CallStaticObjectMethod(env, system, get, (*env)->NewStringUTF(env, "host"));
	puts((*env)->GetStringUTFChars(env, value, NULL));
	printf("%d option\n", args.nOptions);
	fprintf(stderr, "destroyed: %d\n", (*vm)->DestroyJavaVM(vm));
	return 3;
}
