# Installs the library with its headers, the CMake package c63 and c63.pc. The programs are installed by the
# CMakeLists.txt of their folders.

include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/c63)

install(TARGETS c63 EXPORT c63Targets COMPONENT Development)
install(EXPORT c63Targets NAMESPACE c63:: DESTINATION ${package_dir} COMPONENT Development)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/encoder/include/c63 DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  COMPONENT Development FILES_MATCHING PATTERN "*.h" PATTERN "*.inc")

if(TARGET c63_cuda)
  # c63_cuda is exported separately from c63, so that programs that use only the CPU need no CUDA toolkit.
  set_target_properties(c63_cuda PROPERTIES EXPORT_NAME cuda)
  install(TARGETS c63_cuda EXPORT c63CudaTargets COMPONENT Development)
  install(EXPORT c63CudaTargets NAMESPACE c63:: DESTINATION ${package_dir} COMPONENT Development)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/cuda_me/include/c63 DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    COMPONENT Development FILES_MATCHING PATTERN "*.h" PATTERN "*.inc")
endif()

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/c63Config.cmake.in ${PROJECT_BINARY_DIR}/c63Config.cmake
  INSTALL_DESTINATION ${package_dir} PATH_VARS CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/c63ConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/c63Config.cmake ${PROJECT_BINARY_DIR}/c63ConfigVersion.cmake
  DESTINATION ${package_dir} COMPONENT Development)

# The prefix is relative to the folder of c63.pc, so that the installed tree can be moved.
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  set(C63_PC_PREFIX ${CMAKE_INSTALL_PREFIX})
else()
  file(RELATIVE_PATH to_prefix "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
  set(C63_PC_PREFIX "\${pcfiledir}/${to_prefix}")
endif()
set(C63_PC_LIBS_PRIVATE "")
foreach(library IN LISTS CMAKE_DL_LIBS)
  string(APPEND C63_PC_LIBS_PRIVATE " -l${library}")
endforeach()
foreach(kind IN ITEMS LIB INCLUDE)
  if(IS_ABSOLUTE "${CMAKE_INSTALL_${kind}DIR}")
    set(C63_PC_${kind}DIR ${CMAKE_INSTALL_${kind}DIR})
  else()
    set(C63_PC_${kind}DIR "\${prefix}/${CMAKE_INSTALL_${kind}DIR}")
  endif()
endforeach()
configure_file(${CMAKE_CURRENT_LIST_DIR}/c63.pc.in ${PROJECT_BINARY_DIR}/c63.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/c63.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT Development)
